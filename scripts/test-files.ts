/** A reporter of node:test: the path of each file that reported a test or a suite of its own, one a line. */
import { resolve } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

/** Node reports a file without tests as a test that has the file's path as its name. */
export default async function* testFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { file, name } = event.data
    if (file !== undefined && resolve(name) !== file) yield `${file}\n`
  }
}
