Feature: nothing in it
  Scenario: without a step
