/** A box that searches a base as one of its agents does: what that agent would get for the values that are given. */
import type { FoundPassages, StoredKnowledgeBase } from '@witan/protocol/knowledge'
import { type FormEvent, useState } from 'react'
import { type FilterField, filterFields, readFilter, type Searcher, searchersOf } from '../state/knowledge.ts'
import { count } from '../state/format.ts'
import { useAgents } from '../state/queries.ts'
import { witan } from '../state/witan.ts'
import { Button } from './button.tsx'
import { ProblemNote } from './note.tsx'
import { PassageList } from './passage-list.tsx'
import { TextLine } from './text-line.tsx'

const byHand = ''
const limitByHand = 6

/** What came of the last search. `closed`: there was none, because these values are missing. */
type Found =
  | (FoundPassages & { readonly kind: 'passages'; readonly limit: number; readonly who: string })
  | { readonly kind: 'empty' }
  | { readonly kind: 'closed'; readonly missing: readonly FilterField[]; readonly who: string }
  | { readonly kind: 'failed'; readonly error: unknown }

/** Asks the server for nothing before it is sent. */
export function KnowledgeSearch({ base }: { readonly base: StoredKnowledgeBase }) {
  const searchers = searchersOf(useAgents().data ?? [], base.id)
  const [agentId, setAgentId] = useState<string | null>(null)
  const [query, setQuery] = useState('')
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({})
  const [found, setFound] = useState<Found | 'searching' | null>(null)
  const chosen = agentId ?? searchers[0]?.agent.id ?? byHand
  const searcher = searchers.find(({ agent }) => agent.id === chosen) ?? null
  const fields = filterFields(base, searcher)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const read = readFilter(fields, base, texts)
    setProblems(read.problems)
    if (Object.keys(read.problems).length > 0 || query.trim() === '') return
    const who = searcher === null ? 'A search by hand' : (searcher.agent.name ?? searcher.agent.id)
    if (read.missing.length > 0) return setFound({ kind: 'closed', missing: read.missing, who })
    const limit = searcher?.use.limit ?? limitByHand
    setFound('searching')
    witan.knowledge
      .search(base.id, { query, limit, filter: read.filter })
      .then(({ passages, notices }) =>
        setFound(base.documents === 0 ? { kind: 'empty' } : { kind: 'passages', passages, notices, limit, who }),
      )
      .catch((error: unknown) => setFound({ kind: 'failed', error }))
  }
  return (
    <section aria-label="Search this base">
      <h2 className="text-base font-semibold">Search this base</h2>
      <p className="text-muted">
        The passages that an agent would get, in its order. Nothing is stored, and no model answers.
      </p>
      <form onSubmit={submit} aria-label="Search" className="mt-3 space-y-3" noValidate>
        <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
          <TextLine
            label="As"
            value={chosen}
            onChange={(id) => {
              setAgentId(id)
              setFound(null)
            }}
            options={[
              ...searchers.map(({ agent }) => [agent.id, agent.name ?? agent.id] as const),
              [byHand, 'nobody: a filter by hand'] as const,
            ]}
            about={searcher === null ? undefined : howItSearches(searcher)}
          />
          <TextLine label="Words" value={query} onChange={setQuery} placeholder="What a message would ask" />
        </div>
        {fields.length > 0 && (
          <fieldset className="grid gap-3 sm:grid-cols-2">
            <legend className="label mb-1">{searcher === null ? 'Filter' : 'Values of its parameters'}</legend>
            {fields.map((field) => (
              <FilterLine
                key={field.attribute}
                field={field}
                text={texts[field.attribute] ?? ''}
                problem={problems[field.attribute]}
                onText={(text) => setTexts({ ...texts, [field.attribute]: text })}
              />
            ))}
          </fieldset>
        )}
        <Button type="submit" look="primary" disabled={found === 'searching' || query.trim() === ''}>
          {found === 'searching' ? 'Searching …' : 'Search'}
        </Button>
      </form>
      <div aria-live="polite" className="mt-4">
        {found !== null && found !== 'searching' && <Outcome found={found} />}
      </div>
    </section>
  )
}

const ways = {
  tool: 'searches when its model asks',
  auto: 'searches with each message that begins its work',
  both: 'searches with each message that begins its work, and when its model asks',
} as const

function howItSearches({ use }: Searcher): string {
  return `It ${ways[use.retrieval]}, for at most ${count(use.limit, 'passage')}.`
}

interface FilterProps {
  readonly field: FilterField
  readonly text: string
  readonly problem: string | undefined
  readonly onText: (text: string) => void
}

function FilterLine({ field, text, problem, onText }: FilterProps) {
  const { attribute, parameter, type, secret, required } = field
  const isBoolean = type === 'boolean'
  const about =
    parameter === null ? (required ? 'The base demands it.' : 'May stay empty.') : `Filters by ${attribute}.`
  return (
    <TextLine
      label={parameter ?? attribute}
      value={text}
      onChange={onText}
      code
      secret={secret}
      problem={problem}
      about={about}
      {...(isBoolean
        ? { options: [['', 'none'] as const, ['true', 'true'] as const, ['false', 'false'] as const] }
        : {})}
    />
  )
}

function Outcome({ found }: { readonly found: Found }) {
  if (found.kind === 'failed') return <ProblemNote error={found.error} />
  if (found.kind === 'closed') return <ClosedNote missing={found.missing} who={found.who} />
  if (found.kind === 'empty')
    return <p className="text-muted">Nothing can be found yet: the base has no documents. Add some below.</p>
  const { passages, notices, limit, who } = found
  const told = notices.map(({ code, detail }) => (
    <p key={code} role="status" className="text-wait">
      {detail}
    </p>
  ))
  if (passages.length === 0)
    return (
      <div className="space-y-2">
        {told}
        <p className="text-muted">{who} gets nothing: no passage that it may see has one of these words.</p>
      </div>
    )
  return (
    <div className="space-y-2">
      {told}
      <p className="text-muted">
        {who} gets {count(passages.length, 'passage')}
        {passages.length === limit ? ', as many as it asks for' : ` of at most ${limit}`}.
      </p>
      <PassageList label="Passages" passages={passages} showsDocument />
    </div>
  )
}

function ClosedNote({ missing, who }: { readonly missing: readonly FilterField[]; readonly who: string }) {
  return (
    <div role="status" className="rounded-md border border-wait-line bg-wait-soft px-3 py-2">
      <p className="font-medium text-wait">Closed</p>
      <p>
        {who} searches nothing here, because a value is missing:{' '}
        {missing.map(({ attribute, parameter }, index) => (
          <span key={attribute}>
            {index > 0 && ', '}
            {parameter === null ? (
              <>
                no filter by <code className="font-mono">{attribute}</code>
              </>
            ) : (
              <>
                <code className="font-mono">{parameter}</code> for <code className="font-mono">{attribute}</code>
              </>
            )}
          </span>
        ))}
        . A run goes on without the base, with the notice KNOWLEDGE_UNAVAILABLE.
      </p>
    </div>
  )
}
