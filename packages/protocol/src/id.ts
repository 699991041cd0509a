/** Ids and their patterns; branded, so that one kind of id cannot be used as another. */

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** A tenant. No data crosses it. */
export type DatabaseId = Branded<'DatabaseId'>

/** Names of databases. */
export const databaseNamePattern = /^[a-z0-9-]{1,64}$/
/** Agent ids: lower-case letters, digits and `-`, 1 to 64 characters [Rb43]. */
export const agentIdPattern = /^[a-z0-9-]{1,64}$/
/** Names of queries, actions and function tools: what providers accept as a tool name. */
export const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/
/** Valid names of hooks. */
export const hookNamePattern = /^[a-z0-9_-]{1,64}$/
/** Names of protocols. */
export const protocolNamePattern = /^[a-z0-9-]{1,64}$/
/** Names of a protocol's messages; a peer's tool is `<peer>_<message>`. */
export const messageNamePattern = /^[a-z0-9-]{1,40}$/
/** Ids of people: no blanks, `:` or `/`, at most 100 characters. */
export const userIdPattern = /^[^\s:/]{1,100}$/
/** Parameter names, and therefore the names that `$name` may use in a query. */
export const parameterNamePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
/**
 * A full conversation id, `collection/name` [Rb34]. The name is never `.` and never contains `..`, which URLs and file
 * systems would resolve [E8].
 */
export const conversationIdPattern = /^[A-Za-z0-9_-]{1,64}\/(?!\.$)(?!.*\.\.)[A-Za-z0-9._-]{1,128}$/
/** A conversation id whose second half the runtime generates [Rb34]. */
export const conversationPrefixPattern = /^[A-Za-z0-9_-]{1,64}\/$/
