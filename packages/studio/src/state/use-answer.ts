/** Sending the answer to what waits. */
import type { AnswerBody } from '@witan/client'
import { useState } from 'react'
import { witan } from './witan.ts'

/** Where an answer stands: once it is taken, the conversation's events say so and its card goes. */
export interface Answering {
  readonly sending: boolean
  /** Why the last one was not taken, or null. */
  readonly error: unknown
  send(body: AnswerBody): void
}

/** Answers one interruption; after a refusal another answer can be sent. */
export function useAnswer(id: string): Answering {
  const [sending, setSending] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const send = (body: AnswerBody) => {
    setSending(true)
    setError(null)
    witan.interruptions.answer(id, body).catch((reason: unknown) => {
      setError(reason)
      setSending(false)
    })
  }
  return { sending, error, send }
}
