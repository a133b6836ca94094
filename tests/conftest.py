"""What every test stands on: one thread of linear algebra, so that parser processes may be forked."""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded by any test
