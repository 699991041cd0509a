/**
 * A reporter of node:test, for the program that runs the suites: `test PATH` for each file that reported a test or a suite of its own,
 * `fail PATH NAME: WHY` for each test that failed, `skip PATH NAME: REASON` for each that did not run, and `passed COUNT`, one a line; on Linux also
 * `cpu SECONDS`, which this process and those that it started have taken, as far as they have ended.
 */
import { existsSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { stripVTControlCharacters } from 'node:util'

/** Node reports a file without tests as a test that has the file's path as its name. */
export default async function* testFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === 'test:summary' && event.data.file === undefined)
      yield `passed ${event.data.counts.passed}\n${takenOfProcessor()}`
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { file, name, skip } = event.data
    const place = `${relative('.', file ?? '')} ${name.replaceAll('\n', ' ')}`
    if (file !== undefined && resolve(name) !== file) yield `test ${file}\n`
    // A suite fails when one of its tests does; only the test says what failed.
    if (event.type === 'test:fail' && !hasFailedParts(event.data.details.error))
      yield `fail ${place}: ${whyOf(event.data.details.error)}\n`
    if (skip !== undefined && skip !== false) yield `skip ${place}: ${skip === true ? 'without a reason' : skip}\n`
  }
}

/** Where Linux says what a process has taken: in ticks of 10 ms, its own and its children's, in user and system mode. */
const ticksFile = '/proc/self/stat'
const [ticksFrom, ticksTo, ticksPerSecond] = [11, 15, 100]

function takenOfProcessor(): string {
  if (!existsSync(ticksFile)) return ''
  const stat = readFileSync(ticksFile, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(ticksFrom, ticksTo).reduce((sum, field) => sum + Number(field), 0)
  return `cpu ${Math.round(ticks / ticksPerSecond)}\n`
}

const longestWhy = 600

/** What failed, in a line: of a long run only the end may be at hand. */
function whyOf({ message, cause }: Error): string {
  const why = cause instanceof Error ? cause.message : message
  return stripVTControlCharacters(why).replaceAll(/\s+/g, ' ').slice(0, longestWhy)
}

function hasFailedParts(error: Error): boolean {
  return 'failureType' in error && error.failureType === 'subtestsFailed'
}
