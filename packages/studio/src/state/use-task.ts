/** What a person does with a task: send it a message, ask about it, stop it. */
import { useState } from 'react'
import { witan } from './witan.ts'

const usualQuestion = 'What have you done so far, and what is left?'

/** What is under way, and what the last one came to. */
interface TaskTalk {
  readonly busy: 'tell' | 'ask' | 'stop' | null
  /** The reply to the last question or message; null before the first. */
  readonly said: { readonly about: string; readonly text: string } | null
  readonly error: unknown
  tell(text: string, done: () => void): void
  /** Without words the usual question. */
  ask(question: string): void
  stop(): void
}

/** One thing at a time; what was refused can be tried again. */
export function useTask(taskId: string): TaskTalk {
  const [busy, setBusy] = useState<TaskTalk['busy']>(null)
  const [said, setSaid] = useState<TaskTalk['said']>(null)
  const [error, setError] = useState<unknown>(null)
  const go = (what: 'tell' | 'ask' | 'stop', work: () => Promise<TaskTalk['said']>) => {
    setBusy(what)
    setError(null)
    work()
      .then(setSaid, setError)
      .finally(() => setBusy(null))
  }
  return {
    busy,
    said,
    error,
    tell: (text, done) =>
      go('tell', async () => {
        await witan.tasks.message(taskId, text)
        done()
        return { about: 'Sent', text: 'It reads it at its next step.' }
      }),
    ask: (question) =>
      go('ask', async () => {
        const { text, asOfSeq } = await witan.tasks.progress(taskId, question || usualQuestion)
        return { about: `As of event ${asOfSeq}`, text }
      }),
    stop: () =>
      go('stop', async () => {
        await witan.tasks.cancel(taskId)
        return null
      }),
  }
}
