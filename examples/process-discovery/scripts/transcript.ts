/** What a scripted agent finds in its request: whom it can ask, what it has asked, and what it was told. */
import type { ModelRequest } from '@witan/core'
import { finishedCalls } from '@witan/core/testing'
import { type Statement, statementsIn } from '../world/facts.ts'

/** The part of a request since somebody spoke to it last. */
export function latest(request: ModelRequest): ModelRequest {
  const from = request.messages.findLastIndex(({ role }) => role === 'user')
  return { ...request, messages: request.messages.slice(from) }
}

/** The people whom it may ask, by the names that it knows. */
export function peopleOf({ tools }: ModelRequest): readonly string[] {
  const { properties } = (tools.find(({ name }) => name === 'ask_user')?.parameters ?? {}) as {
    readonly properties?: { readonly user?: { readonly enum?: readonly string[] } }
  }
  return properties?.user?.enum ?? []
}

/** What people have told it, by the names that it knows them by. */
export function heard(request: ModelRequest): readonly Statement[] {
  return finishedCalls(request).flatMap(({ name, arguments: args, result }) => {
    if (name === 'ask_user') return statementsIn(result.replace(/^[^:]*: /, ''), String(args['user']))
    if (name !== 'ask_all_users') return []
    const replies = readList(result) as readonly { readonly user?: string; readonly reply?: string }[]
    return replies.flatMap(({ user, reply = '' }) => statementsIn(reply, user))
  })
}

/** What it has asked whom; everybody is asked at once as `everybody`. */
export function questions(request: ModelRequest): readonly { readonly user: string; readonly message: string }[] {
  return finishedCalls(request).flatMap(({ name, arguments: args }) => {
    if (name !== 'ask_user' && name !== 'ask_all_users') return []
    return [{ user: name === 'ask_user' ? String(args['user']) : 'everybody', message: String(args['message']) }]
  })
}

/** The words of people and agents to it, oldest first. */
export function wordsTo({ messages }: ModelRequest): readonly string[] {
  return messages.flatMap((message) => (message.role === 'user' ? [message.content] : []))
}

/** The id of the artifact that a text names last. */
export function artifactIn(text: string): string | null {
  return text.match(/art_\w+/g)?.at(-1) ?? null
}

/** A JSON object in a text, from its first brace on; else an empty one. */
export function readObject(text: string): Readonly<Record<string, unknown>> {
  const value = read(text.slice(Math.max(0, text.indexOf('{'))))
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function readList(text: string): readonly unknown[] {
  const value = read(text)
  return Array.isArray(value) ? value : []
}

function read(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The statements in JSON that has them, such as a message of a protocol. */
export function statementsOf(value: unknown): readonly Statement[] {
  const { statements } = (value ?? {}) as { readonly statements?: unknown }
  if (!Array.isArray(statements)) return []
  return statements.flatMap((one: Partial<Statement> | null) =>
    typeof one?.by === 'string' && typeof one.says === 'string' ? [{ by: one.by, says: one.says }] : [],
  )
}
