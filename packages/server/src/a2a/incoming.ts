/** How a message came in: the chain and the evidence that hold for what it begins, and what people read of them. */
import type { Principal } from '@witan/core'
import { type PublishedAgent, takeChain } from '@witan/core/tooling'
import { WitanError } from '@witan/protocol'
import type { IncomingCall, NoticeBody } from '@witan/protocol/entries'
import { readAddress } from '@witan/protocol/names'
import type { AppOptions } from '../app-options.ts'
import { cardUrlOf } from '../discovery/cards.ts'
import type { Caller } from './credential.ts'
import type { CheckedEvidence, EvidenceTerms } from './evidence.ts'
import type { ReadMessage } from './message.ts'
import { sharedBudget } from './shared-budget.ts'

interface Called {
  readonly caller: Caller
  readonly options: AppOptions
}

/** The chain that holds, and what its people read of it. Throws `AGENT_CHAIN_INVALID`, `CHAIN_LOOP`. */
export function taken(
  { caller, options }: Called,
  agent: PublishedAgent,
  { message, checked }: { readonly message: ReadMessage; readonly checked: CheckedEvidence },
): { readonly incoming: IncomingCall; readonly notices: readonly NoticeBody[] } {
  const { chains, mentionRelay } = message
  const { proven, dropped } = checked
  const result = takeChain(
    { ...chains, credential: caller.chain },
    {
      ...{ called: agent.address.text, caller: caller.address, canonical },
      ceiling: options.federation?.maxHops ?? 1,
    },
  )
  if (!result.ok) throw new WitanError(result.code, result.detail)
  const notices = result.notices.map(noticeOf)
  if (dropped > 0) {
    const pieces = `${dropped} ${dropped === 1 ? 'piece' : 'pieces'} of evidence`
    const detail = `${pieces} came with the message, of nobody who is trusted, or more than is taken.`
    notices.push({ code: 'EVIDENCE_DROPPED', detail, count: dropped })
  }
  const { chain } = result
  return {
    incoming: {
      ...(chain === null ? {} : { chain }),
      ...(mentionRelay === null ? {} : { mentionRelay }),
      ...(proven.length === 0 ? {} : { evidence: proven }),
      ...sharedBudget(message.budget, { caller, options }),
    },
    notices,
  }
}

/** The message that evidence must be for. A remote that is known by the URL of its card is called by that. */
export function evidenceTerms(
  { caller, options }: Called,
  agent: PublishedAgent,
  { messageId, contextId: thread }: ReadMessage,
): EvidenceTerms {
  const { principal, address } = caller
  const card = options.federation === undefined ? [] : [cardUrlOf(agent, options.federation)]
  const server = address === null ? null : `https://${address.slice(address.indexOf('@', 1) + 1)}`
  return { audiences: [agent.address.text, ...card], caller: principal.id, server, messageId, thread }
}

/** The caller with what its evidence proves: its rights depend on that. */
export function withEvidence(principal: Principal, { proven }: CheckedEvidence): Principal {
  return proven.length === 0 ? principal : { ...principal, incoming: { evidence: proven } }
}

type ChainNotice = Extract<ReturnType<typeof takeChain>, { ok: true }>['notices'][number]

function noticeOf(notice: ChainNotice): NoticeBody {
  if (notice.code === 'CHAIN_MISSING')
    return { ...notice, detail: `${notice.caller} called without a chain: this counts as the first hop.` }
  return { ...notice, detail: `The chain came with ${notice.from} hops at most; here they are ${notice.to}.` }
}

function canonical(address: string): string {
  const read = readAddress(address)
  return read.ok ? read.address.text : address.toLowerCase()
}
