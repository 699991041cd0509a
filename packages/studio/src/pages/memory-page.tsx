/** What agents remember about the caller, to read, change and erase; an administrator also sees what is about others. */
import type { ErasedMemory, MemoryBlock } from '@witan/protocol/memory'
import { shownText } from '@witan/protocol/shown'
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import { AgentName, AgentSign } from '../components/agent-sign.tsx'
import { Button } from '../components/button.tsx'
import { ConversationLinks } from '../components/conversation-links.tsx'
import { MemoryBlockItem } from '../components/memory-block.tsx'
import { EraseAllDialog, ErasedNote } from '../components/memory-erase.tsx'
import { EmptyNote, UnreadNote } from '../components/note.tsx'
import { TextLine } from '../components/text-line.tsx'
import { usePrincipal } from '../state/account.ts'
import { memoryConfig } from '../state/first-steps.ts'
import { type MemoryGroup, memoryGroups, subjectName } from '../state/memory.ts'
import { type About, useBlocks, useQuoting } from '../state/memory-queries.ts'

/** Whom the page is about; without either, the caller. Only an administrator reaches others. */
export interface MemoryPlace {
  readonly whose?: 'all'
  readonly subject?: string
}

interface PageProps {
  readonly place: MemoryPlace
  readonly onPlace: (place: MemoryPlace) => void
}

export function MemoryPage({ place, onPlace }: PageProps) {
  const principal = usePrincipal()
  const isAdmin = principal?.roles.includes('admin') === true
  const subject = place.whose === 'all' ? null : (place.subject ?? principal?.id ?? null)
  const isOwn = principal !== undefined && subject === principal.id
  const whom = isOwn ? 'you' : subject === null ? 'everybody' : subjectName(subject)
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-3xl space-y-5 p-4 md:p-6">
        {principal !== undefined && (
          <Blocks
            key={subject}
            {...{ subject, whom, isOwn }}
            filter={isAdmin ? <Whose key={whom} {...{ place, isOwn, onPlace }} /> : null}
          />
        )}
      </div>
    </div>
  )
}

interface BlocksProps {
  readonly subject: string | null
  /** As a sentence names them. */
  readonly whom: string
  readonly isOwn: boolean
  readonly filter: ReactNode
}

function Blocks({ subject, whom, isOwn, filter }: BlocksProps) {
  const about: About = subject === null ? 'everybody' : { subject }
  const pages = useBlocks(about)
  const heading = useRef<HTMLHeadingElement>(null)
  const [erases, setErases] = useState(false)
  const [erased, setErased] = useState<ErasedMemory | null>(null)
  const [drafts, setDrafts] = useState<readonly MemoryBlock[]>([])
  const stored = pages.data?.pages.flatMap(({ items }) => items) ?? []
  const isStored = ({ id }: MemoryBlock) => stored.some((block) => block.id === id)
  const blocks = [...stored, ...drafts.filter((draft) => !isStored(draft))]
  const focusHeading = () => heading.current?.focus()
  const onDraft = (block: MemoryBlock, isOpen: boolean) => {
    setDrafts((before) => [...before.filter(({ id }) => id !== block.id), ...(isOpen ? [block] : [])])
    if (!isOpen && !isStored(block)) focusHeading()
  }
  return (
    <>
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0 flex-1 basis-72">
          <h1 ref={heading} tabIndex={-1} className="break-words text-lg font-semibold">
            What agents remember about {whom}
          </h1>
          <p className="max-w-prose text-pretty text-muted">
            Each agent has its own memory, and reads it when it works for {isOwn ? 'you' : 'the person'} again. It is
            data for the agent, never an instruction.
          </p>
        </div>
        {subject !== null && blocks.length > 0 && (
          <Button look="danger" onClick={() => setErases(true)}>
            Erase all …
          </Button>
        )}
      </div>
      {filter}
      {erased !== null && (
        <ErasedNote
          erased={erased}
          onClose={() => {
            setErased(null)
            focusHeading()
          }}
        />
      )}
      {pages.data === undefined ? (
        <UnreadNote query={pages} what="what is remembered" />
      ) : blocks.length === 0 ? (
        <Nothing {...{ whom }} isKnown={subject !== 'anonymous'} />
      ) : (
        memoryGroups(blocks).map((group) => (
          <Group key={group.agent} {...{ group, subject, onDraft }} onErased={focusHeading} />
        ))
      )}
      {pages.hasNextPage && <Button onClick={() => void pages.fetchNextPage()}>Show more blocks</Button>}
      {erases && subject !== null && (
        <EraseAllDialog
          {...{ subject, whom }}
          onClose={() => setErases(false)}
          onErased={(done) => {
            setErases(false)
            setErased(done)
            focusHeading()
          }}
        />
      )}
    </>
  )
}

/** `isKnown`: the server knows who asks. */
function Nothing({ whom, isKnown }: { readonly whom: string; readonly isKnown: boolean }) {
  return (
    <EmptyNote title={`Nothing is remembered about ${whom}`} code={{ label: 'witan.config.ts', text: memoryConfig }}>
      An agent with <code className="font-mono">memory</code> in its definition keeps what it should know in later
      conversations: wishes, names, how somebody works. It writes with its tool{' '}
      <code className="font-mono">remember</code>; nothing is taken down unasked. What it keeps appears here, for the
      person to read, change and erase.
      {!isKnown && ' This server lets everybody in without a name, so its agents remember nothing of anybody.'}
    </EmptyNote>
  )
}

const scopeTitles = {
  person: 'In every conversation',
  conversation: 'In one conversation',
  agent: 'For everybody',
} as const

interface GroupProps {
  readonly group: MemoryGroup
  readonly subject: string | null
  readonly onDraft: (block: MemoryBlock, isOpen: boolean) => void
  readonly onErased: () => void
}

function Group({ group: { agent, scopes }, subject, onDraft, onErased }: GroupProps) {
  return (
    <section aria-label={shownText(agent)} className="space-y-3">
      <h2 className="flex min-w-0 items-center gap-2 text-base font-semibold">
        <AgentSign id={agent} />
        <span className="min-w-0 break-words">
          <AgentName id={agent} />
        </span>
      </h2>
      {scopes.map(({ scope, blocks }) => (
        <div key={scope} className="space-y-1">
          <h3 className="label">{scopeTitles[scope]}</h3>
          <ul
            aria-label={`${shownText(agent)}: ${scopeTitles[scope].toLowerCase()}`}
            className="divide-y divide-line rounded-md border border-line bg-panel"
          >
            {blocks.map((block) => (
              <MemoryBlockItem key={block.id} {...{ block, onDraft, onErased }} namesSubject={subject === null} />
            ))}
          </ul>
        </div>
      ))}
      {subject !== null && <Quoting agent={agent} subject={subject} />}
    </section>
  )
}

/** The conversations in which the agent's model read or wrote of it. */
function Quoting({ agent, subject }: { readonly agent: string; readonly subject: string }) {
  const [shown, setShown] = useState(false)
  return (
    <div>
      <Button look="quiet" className="-ml-3" aria-expanded={shown} onClick={() => setShown(!shown)}>
        Where it was used<span className="sr-only"> by {shownText(agent)}</span>
      </Button>
      {shown && <QuotingList about={{ agent, subject }} />}
    </div>
  )
}

function QuotingList({ about }: { readonly about: { readonly agent: string; readonly subject: string } }) {
  const quoting = useQuoting(about)
  if (quoting.data === undefined) return <UnreadNote query={quoting} what="the conversations" />
  const { ids, isMore } = quoting.data
  if (ids.length === 0) return <p className="text-muted">In no conversation that is still there.</p>
  return (
    <div className="py-1">
      <ConversationLinks label="Conversations in which it was read or written" ids={ids} isMore={isMore} />
    </div>
  )
}

interface WhoseProps extends PageProps {
  readonly isOwn: boolean
}

/** Whom the page is about, for an administrator. */
function Whose({ place, isOwn, onPlace }: WhoseProps) {
  const [typed, setTyped] = useState(place.subject ?? '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onPlace(typed.trim() === '' ? {} : { subject: typed.trim() })
  }
  return (
    <form aria-label="About whom" className="flex flex-wrap items-end gap-2" onSubmit={submit}>
      <div className="w-56 min-w-0">
        <TextLine label="About whom" value={typed} onChange={setTyped} placeholder="user:anna" code />
      </div>
      <Button type="submit">Show</Button>
      <Button look="quiet" aria-pressed={isOwn} onClick={() => onPlace({})}>
        Me
      </Button>
      <Button look="quiet" aria-pressed={place.whose === 'all'} onClick={() => onPlace({ whose: 'all' })}>
        Everybody
      </Button>
    </form>
  )
}
