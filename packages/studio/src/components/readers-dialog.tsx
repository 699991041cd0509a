/** Which models read an entry of the conversation, each with the first model call that did. */
import { Link } from '@tanstack/react-router'
import type { ConversationView } from '@witan/client'
import type { EntryReaders } from '@witan/protocol/schemas'
import { toSegment } from '../state/address.ts'
import { modelRowId } from '../state/model-calls.ts'
import { plainText } from '../state/plain-text.ts'
import { useAgentName } from '../state/queries.ts'
import { useReaders } from '../state/use-model-calls.ts'
import { AgentName, AgentSign } from './agent-sign.tsx'
import { Dialog } from './dialog.tsx'
import { UnreadNote } from './note.tsx'

type EntryReader = EntryReaders['items'][number]

interface ReadersProps {
  readonly conversationId: string
  readonly view: ConversationView
  readonly seq: number
  readonly onClose: () => void
  /** A model call has been chosen, which stands in the address then. */
  readonly onGo: () => void
}

const ways: Readonly<Record<EntryReader['as'], string>> = {
  own: 'said it itself',
  message: 'as a message to it',
  result: 'as the result of its call',
  attributed: 'as the words of another agent',
  shared: 'in what its caller shares with it',
  summary: 'in a summary',
}

/** Each reader is a link to its model call; the way back of the browser leads here again. */
export function ReadersDialog({ conversationId, view, seq, onClose, onGo }: ReadersProps) {
  const readers = useReaders(conversationId, seq)
  const said = useSaid(view, seq)
  return (
    <Dialog title="Who read this" onClose={onClose}>
      {said !== null && (
        <blockquote className="border-l-2 border-line-strong pl-3">
          <p className="text-xs text-muted">{said.author}</p>
          <p className="line-clamp-3 break-words">{said.text === '' ? 'Nothing that is text.' : said.text}</p>
        </blockquote>
      )}
      {readers.data === undefined ? (
        <UnreadNote query={readers} what="its readers" />
      ) : readers.data.length === 0 ? (
        <p className="text-muted">No model has read it yet.</p>
      ) : (
        <ul aria-label="Readers" className="border-t border-line">
          {readers.data.map((reader) => {
            const run = view.calls.get(reader.callId)?.rootCallId
            return (
              <li key={reader.callId} className="border-b border-line">
                <Link
                  to="/conversations/$conversation"
                  params={{ conversation: toSegment(conversationId) }}
                  search={{
                    run,
                    node: modelRowId({ id: reader.first, callId: reader.callId }),
                  }}
                  onClick={onGo}
                  className="flex items-center gap-2.5 px-2 py-2 hover:bg-sunken"
                >
                  <AgentSign id={reader.agent} />
                  <span className="min-w-0 flex-1">
                    <span className="block break-words">
                      <span className="font-medium">
                        <AgentName id={reader.agent} />
                      </span>{' '}
                      <span className="text-muted">{ways[reader.as]}</span>
                    </span>
                    <span className="flex flex-wrap items-baseline justify-between gap-x-4 text-xs">
                      <span className="min-w-0 truncate font-mono text-muted">{reader.document}</span>
                      <span className="text-accent">
                        {view.runs.length > 1 && run !== undefined && `Run ${view.runs.indexOf(run) + 1}, `}model call ›
                      </span>
                    </span>
                  </span>
                </Link>
              </li>
            )
          })}
        </ul>
      )}
    </Dialog>
  )
}

/** What the entry says, for the head of the dialog; null for one that says nothing to people. */
function useSaid(view: ConversationView, seq: number): { readonly author: string; readonly text: string } | null {
  const nameOf = useAgentName()
  const message = view.messages.find((one) => one.seq === seq)
  if (message !== undefined) return { author: message.author === 'user' ? 'You' : message.author, text: message.text }
  for (const call of view.calls.values()) {
    if (call.answerSeq !== seq) continue
    if (call.kind === 'agent') return { author: nameOf(call.name), text: plainText(call.text) }
    const result = typeof call.result === 'string' ? call.result : JSON.stringify(call.result ?? call.error)
    return { author: `Result of ${call.name}`, text: result.slice(0, 500) }
  }
  return null
}
