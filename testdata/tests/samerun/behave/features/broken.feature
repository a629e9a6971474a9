Feature: all of it is skipped
  @skip
  Scenario: never
    Given a calculator
