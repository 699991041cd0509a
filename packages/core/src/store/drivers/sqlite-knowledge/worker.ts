/** The thread of knowledge: it has the file, and answers one message after another. */
import { parentPort, workerData } from 'node:worker_threads'
import { steady, systemClock } from '../../../identity/clock.ts'
import { clearing } from './clearing.ts'
import { type FromThread, sentError, type ThreadSettings, type ToThread } from './messages.ts'
import { type MethodName, reads, writes } from './methods.ts'
import { type Knowledge, openKnowledge } from './open.ts'

type Call = Extract<ToThread, { readonly method: MethodName }>
type Write = (knowledge: Knowledge, argument: unknown, parts: readonly unknown[]) => Generator<void, unknown>
type Read = (knowledge: Knowledge, argument: unknown) => unknown

/** How long writes share a commit, in ms. Searches wait so long. */
const groupMs = 5

const parts = new Map<number, unknown[]>()
/** Calls that write, and what is left of the one that is being worked on. */
const queue: Call[] = []
let current: { readonly id: number; readonly steps: Generator<void, unknown> } | null = null
/** What is left of clearing. */
let cleared: Generator<void, void> | null = null
let isPlanned = false
let isClosing = false

function send(message: FromThread): void {
  parentPort?.postMessage(message)
}

function receive(knowledge: Knowledge, message: ToThread): void {
  if (message === 'close') {
    isClosing = true
    plan(knowledge)
  } else if ('part' in message) {
    const known = parts.get(message.id)
    if (known === undefined) parts.set(message.id, [message.part])
    else known.push(message.part)
  } else if (message.method in reads) {
    const read = (reads as unknown as Record<string, Read>)[message.method] as Read
    send(replyOf(message.id, () => read(knowledge, message.argument)))
  } else {
    queue.push(message)
    plan(knowledge)
  }
}

function replyOf(id: number, work: () => unknown): FromThread {
  try {
    return { id, value: work() }
  } catch (error) {
    return { id, error: sentError(error) }
  }
}

/** Writes take some steps in each turn, so that searches are answered in between. */
function plan(knowledge: Knowledge): void {
  if (isPlanned) return
  isPlanned = true
  setImmediate(() => {
    isPlanned = false
    if (step(knowledge)) plan(knowledge)
  })
}

/** Does the next steps, and tidies up a little after each write. False if there is nothing left to do. */
function step(knowledge: Knowledge): boolean {
  if (current !== null || queue.length > 0) writeSome(knowledge)
  if (current !== null || tidy(knowledge) || queue.length > 0) return true
  if (isClosing) {
    knowledge.close()
    parentPort?.close()
  }
  return false
}

/** Takes steps of writes, and commits them together. If that fails, each of them has failed. */
function writeSome(knowledge: Knowledge): void {
  const replies: FromThread[] = []
  const until = steady() + groupMs
  const isDurable = current !== null || queue.some(({ method }) => !isForgettable(method))
  try {
    knowledge.group(isDurable, () => {
      do replies.push(takeStep(knowledge))
      while (current === null && queue.length > 0 && steady() < until)
    })
  } catch (error) {
    if (current !== null) replies.push({ id: current.id, value: null })
    current = null
    for (const reply of replies) if (reply !== 'working') send({ id: reply.id as number, error: sentError(error) })
    return
  }
  for (const reply of replies) send(reply)
}

/** A claim that a power cut undoes is made again. */
function isForgettable(method: MethodName): boolean {
  return method === 'claimDocuments' || method === 'releaseDocuments'
}

function takeStep(knowledge: Knowledge): FromThread {
  current ??= begun(knowledge, queue.shift() as Call)
  const { id, steps } = current
  let isDone = true
  const reply = replyOf(id, () => {
    const { done, value } = steps.next()
    isDone = done === true
    return value
  })
  if (!isDone) return 'working'
  current = null
  return reply
}

function begun(knowledge: Knowledge, { id, method, argument }: Call): NonNullable<typeof current> {
  const write = (writes as unknown as Record<string, Write>)[method] as Write
  const steps = write(knowledge, argument, parts.get(id) ?? [])
  parts.delete(id)
  return { id, steps }
}

/** Packs or clears a little; false if there is nothing to do. What cannot be cleared stays hidden. */
function tidy(knowledge: Knowledge): boolean {
  let isMore = false
  try {
    knowledge.group(false, () => {
      isMore = tidyStep(knowledge)
    })
  } catch {
    // the disk may be full: the next write says so, and the next start clears it
    cleared = null
  }
  return isMore
}

function tidyStep(knowledge: Knowledge): boolean {
  if (knowledge.fresh.isFull()) return knowledge.fresh.pack(knowledge.transaction)
  cleared ??= clearing(knowledge)
  if (cleared.next().done !== true) return true
  cleared = null
  return false
}

try {
  const knowledge = await openKnowledge({ ...(workerData as ThreadSettings), now: systemClock.now })
  parentPort?.on('message', (message: ToThread) => receive(knowledge, message))
  plan(knowledge)
} catch (error) {
  send({ id: 'open', error: sentError(error) })
  parentPort?.close()
}
