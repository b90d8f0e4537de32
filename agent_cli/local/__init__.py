"""A model on this machine: llama.cpp's server as a child process, shared by all sessions of one file."""

from agent_cli.local.served import served
from agent_cli.local.server import LocalServer
from agent_cli.local.weights import Weights, find_weights

__all__ = ["LocalServer", "Weights", "find_weights", "served"]
