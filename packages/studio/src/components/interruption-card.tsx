/** The card that fits what waits. */
import type { Interruption } from '@witan/protocol'
import { ActionCard } from './action-card.tsx'
import { ApprovalCard } from './approval-card.tsx'
import { MessageCard } from './message-card.tsx'
import { PolicyCard } from './policy-card.tsx'
import { QuestionCard } from './question-card.tsx'

/** Stays until the conversation's events say that it is resolved. */
export function InterruptionCard({ open }: { readonly open: Interruption }) {
  if (open.kind === 'action') return <ActionCard action={open} />
  if (open.kind === 'approval') return <ApprovalCard approval={open} />
  if (open.kind === 'question') return <QuestionCard asked={open} />
  if (open.kind === 'message') return <MessageCard message={open} />
  return <PolicyCard policy={open} />
}
