"""Tables that analysts uploaded: content, column profiles, warnings, and schemas."""
