# frozen_string_literal: true

ONE = 1
