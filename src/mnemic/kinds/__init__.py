"""ONE TYPED VIEW PER KIND: the verbs that suit each kind of memory."""
