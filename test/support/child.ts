/** Child processes of tests: none outlives the process that started it, also where a test fails before it has ended it. */
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'

const running = new Set<ChildProcess>()

/** The same child, which is killed when this process ends. */
export function killedAtEnd<Child extends ChildProcess>(child: Child): Child {
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/** This process no longer waits for its children. A file with a process of its own calls it after its tests, so that it ends. */
export function leaveChildren(): void {
  for (const child of running) {
    child.unref()
    for (const stream of child.stdio) (stream as Socket | null)?.unref()
  }
}

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
