/** The thread that reads files of others: one job, one answer. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Given, Sent } from './apart.ts'
import { readCalendar } from './calendar.ts'
import { readMails } from './mails.ts'

const { job, skip, at } = workerData as Given
const isSkipped = new Set(skip)

/** Says which item is read next; false if it is to be left out. */
function begin(item: number): boolean {
  Atomics.store(at, 0, item)
  return !isSkipped.has(item)
}

async function answer(): Promise<Sent> {
  try {
    return { found: job.kind === 'mails' ? await readMails(job, begin) : readCalendar(job, begin) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message.slice(0, 300) : 'the files cannot be read' }
  }
}

parentPort?.postMessage(await answer())
