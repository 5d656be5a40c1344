"""The paper's reward in latent space (Ma et al. 2019), with three back ends."""
