/** What a test has opened, closed at its end in the right order. */
import type { TestContext } from 'node:test'

/** Adds something to close. */
export type Later = (close: () => unknown) => void

/** What is added is closed when the test is over, the last first. */
export function closers(context: TestContext): Later {
  const all: (() => unknown)[] = []
  context.after(async () => {
    for (const close of all.reverse()) await close()
  })
  return (close) => {
    all.push(close)
  }
}
