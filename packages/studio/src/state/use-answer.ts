/** Sending the answer to what waits. */
import type { InterruptionAnswer } from '@witan/client'
import { useState } from 'react'
import { untilAnswered } from './connection.ts'
import { refreshWaiting } from './queries.ts'
import { witan } from './witan.ts'

/** The state of an answer: once it is accepted, the conversation's events say so and its card disappears. */
interface Answering {
  readonly sending: boolean
  /** Why the last one was not taken, or null. */
  readonly error: unknown
  send(body: InterruptionAnswer): void
}

/** Answers one interruption; after a refusal another answer can be sent. A repeat of the same answer is accepted, so it may be sent again. */
export function useAnswer(id: string): Answering {
  const [sending, setSending] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const send = (body: InterruptionAnswer) => {
    setSending(true)
    setError(null)
    untilAnswered(() => witan.interruptions.answer(id, body))
      .catch((reason: unknown) => {
        setError(reason)
        setSending(false)
      })
      .finally(refreshWaiting)
  }
  return { sending, error, send }
}
