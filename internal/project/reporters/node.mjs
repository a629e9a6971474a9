// The JUnit XML of node's tests, in which a test with others in it is a suite: here it is
// a test beside that too, as node counts it. A suite of describe stays what it is.
import {junit} from 'node:test/reporters';

async function* doubled(events) {
  const outer = []; // by depth: the test that began there has others in it
  for await (const event of events) {
    yield event;
    const {nesting, details} = event.data || {};
    if (event.type === 'test:start') {
      outer.length = nesting;
      outer.fill(true);
    } else if (event.type === 'test:pass' || event.type === 'test:fail') {
      if (outer[nesting] && details?.type !== 'suite') {
        yield {type: 'test:start', data: event.data};
        yield event;
      }
      outer.length = Math.min(outer.length, nesting);
    }
  }
}

export default async function* (events) {
  yield* junit(doubled(events));
}
