"""Benchmarks of speed and scale: training, reward, GPU kernels, growth of cost, and the service."""
