from behave import given, then, when


@given("a calculator")
def calculator(context):
    context.sum = 0


@when("I add {a:d} and {b:d}")
def add(context, a, b):
    context.sum = a + b
    print("a line to standard output")


@then("I see {sum:d}")
def see(context, sum):
    assert context.sum == sum, "%d is not %d" % (context.sum, sum)


@when("I break")
def broken(context):
    raise RuntimeError("broken")


@when("I am pending")
def pending(context):
    raise NotImplementedError("STEP: later")


@when("I skip")
def skip(context):
    context.scenario.skip("needs a database")
