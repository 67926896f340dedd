"""What only lessons use: toys, torch's twins of our modules, counted costs, a bridge to d2l."""
