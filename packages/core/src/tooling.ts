/** What a server or a command line needs besides the library: inspects agents and stores without a runtime. */

// agents before they are saved
export type { Inspected } from './agent/inspect.ts'
export { inspectAgent } from './agent/inspect.ts'
export { baseIn } from './tool/kinds/knowledge-elsewhere.ts'
export { baseProblems } from './agent/knowledge/parse-base.ts'
export { protocolProblems } from './agent/protocol/parse-protocol.ts'
export { listedByParents } from './agent/seed.ts'
export { withWrapped } from './agent/define-agent.ts'

// the likely word for a misspelt one
export { nearest } from './identity/nearest.ts'

// MCP servers: their configuration, their pins, and connections without a runtime
export type { McpFailure, McpList, McpServers, McpSettings, McpToolDefinition } from './tool/mcp/mcp.ts'
export { type McpServerInput, mcpSettingsOf } from './tool/mcp/settings.ts'
export {
  differences,
  type McpLock,
  mcpLockFile,
  lockOf,
  lockText,
  noPins,
  parseLock,
  type PinDifferences,
} from './tool/mcp/pins.ts'
export { cleanDescription } from './tool/mcp/describe.ts'
export { mcpServers } from './mcp/servers.ts'

// API keys: how a server looks them up, and keys on a store without a runtime
export type { KeyAdmin, KeyLookup, KnownKey } from './runtime/key-contract.ts'
export { digestOfKey, digestOfSession, keyPattern, sessionOfKey } from './identity/key.ts'
export { createKey, revokeKey, shownKey } from './store/key-rows.ts'
export { listKeys } from './store/keys.ts'

// stores that are not open
export { inspectStoreFile } from './store/drivers/sqlite-inspect.ts'
export { inspectStoreServer, type StoreServerReport } from './store/drivers/postgres-inspect.ts'
export { readAddress as readServerAddress } from './store/drivers/postgres/url.ts'

// how long a request waits for its store
export { liftDeadline, withinRequest } from './identity/request-deadline.ts'

// JSON and texts that may be long, without a long turn
export { jsonLength } from './identity/json-length.ts'
export { jsonText, textBytes } from './identity/json-pieces.ts'

// replies that are given once more, and sub-agents that are assigned, as a server takes them
export type { IdempotencyScope, RememberedReplies, SubAgentAssignment } from './runtime/contract.ts'
export type { Reservation } from './store/reply-records.ts'

// callers from outside, and whom they reach
export { anonymousPrincipal, isOutside, remotePrincipal } from './identity/principal.ts'
export { isOpen, mayCall } from './identity/agent-access.ts'
export { canonicalSubject, type EvidenceClaim, isTrusted, type TrustedIssuer, urlOfDid } from './identity/trust.ts'
export type { PublishedAgent, PublishedAgents } from './runtime/published.ts'
export type { Asked, OwnMessage, OwnRun, OwnRunFilter, OwnRuns } from './runtime/own-runs.ts'
export type { GivenChains } from './identity/chain.ts'
export { chainInside, relayOf, takeChain } from './identity/chain.ts'

export type { UsedEvidence } from './runtime/used-evidence.ts'

// other servers: the way out, finding an agent, and the keys that this server signs with
export { type EvidencePiece, isSignedBy, type KeyPlace, readEvidence } from './federation/evidence-piece.ts'
export type { EvidenceIssuer, ReissueRequest } from './federation/reissue.ts'
export { credentialClaim, readCredential } from './federation/credential-piece.ts'
export { keysIn, keysUrl, type PublicKeys } from './federation/public-keys.ts'
export { createSafeFetch, type SafeFetch } from './federation/safe-fetch.ts'
export { cardRelation, type DiscoveryStep, resolveAddress, resolveCard } from './federation/resolve.ts'
export { createOwnKeys, type OwnKey, type OwnKeys } from './federation/own-keys.ts'
export { openState, type PolicyState, sealState } from './federation/policy-state.ts'
export { listSigningKeys, signingNow } from './store/signing-keys.ts'
export { signedCard } from './federation/sign.ts'
export { createRemoteCaller } from './federation/remote-calls.ts'
export type { RemoteServices } from './federation/remote-services.ts'
export { keepKey } from './store/remote-keys.ts'
export { changedBy } from './identity/changed.ts'

// what knowledge makes of a text: for whoever measures it
export { runWithPauses } from './identity/pausable.ts'
export { splitPassages } from './knowledge/passages.ts'
export { queryWordsOf, wordsOf } from './knowledge/words.ts'
