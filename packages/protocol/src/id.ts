/** Ids and the patterns they must match; branded so that one kind is never passed for another. */

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** A tenant. Nothing crosses it. */
export type DatabaseId = Branded<'DatabaseId'>
/** What a person has with a root agent: `chats/01J…`. */
export type ConversationId = Branded<'ConversationId'>
/** One activation of an agent or a tool: a node of the tree. */
export type CallId = Branded<'CallId'>
/** One durable question to somebody outside the run. */
export type InterruptionId = Branded<'InterruptionId'>

/** Agent ids: lower-case letters, digits and `-`, 1 to 64 characters [Rb43]. */
export const agentIdPattern = /^[a-z0-9-]{1,64}$/
/** Names of queries, actions and function tools: what providers accept as a tool name. */
export const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/
/** Ids of people: no blanks, `:` or `/`, at most 100 characters. */
export const userIdPattern = /^[^\s:/]{1,100}$/
/** Parameter names, and therefore also what `$name` may say in a query. */
export const parameterNamePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
/** A whole conversation id, `collection/name` [Rb34]; the name is nothing that a URL or a file system takes for a way up, or for nothing [E8]. */
export const conversationIdPattern = /^[A-Za-z0-9_-]{1,64}\/(?!\.$)(?!.*\.\.)[A-Za-z0-9._-]{1,128}$/
/** A conversation id whose second half the runtime fills in [Rb34]. */
export const conversationPrefixPattern = /^[A-Za-z0-9_-]{1,64}\/$/
