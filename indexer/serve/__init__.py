"""Serve: JSON-RPC 2.0 over a Unix socket, in front of one service; no client can stop or slow another.

What every room here keeps to: the event loop's thread never computes, reads a file or waits; what a client sends is
bounded in size, depth, number and time before it is looked at; a bad request has a clear error for its answer, and a
fault of ours a short one, with the traceback in the log ("indexer.serve") and the connection as usable as before.
"""
