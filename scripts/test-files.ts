/**
 * A reporter of node:test, for the program that runs the suites: `test PATH` for each file that reported a test or a suite of its own, and
 * `fail PATH NAME` for each test that failed, one a line.
 */
import { relative, resolve } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

/** Node reports a file without tests as a test that has the file's path as its name. */
export default async function* testFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { file, name } = event.data
    if (file !== undefined && resolve(name) !== file) yield `test ${file}\n`
    // A suite fails when one of its tests does; only the test says what failed.
    if (event.type === 'test:fail' && !hasFailedParts(event.data.details.error))
      yield `fail ${relative('.', file ?? '')} ${name.replaceAll('\n', ' ')}\n`
  }
}

function hasFailedParts(error: Error): boolean {
  return 'failureType' in error && error.failureType === 'subtestsFailed'
}
