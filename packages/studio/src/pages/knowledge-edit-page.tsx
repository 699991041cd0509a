/** The form of a knowledge base, new or stored: the server checks it while it is typed, and what it finds stands at the fields. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { isWitanError } from '@witan/client'
import type { Finding } from '@witan/protocol'
import type { StoredKnowledgeBase } from '@witan/protocol/knowledge'
import { shownText } from '@witan/protocol/shown'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { AttributeTable } from '../components/attribute-table.tsx'
import { Button, buttonLook } from '../components/button.tsx'
import { EmptyNote, ProblemNote, UnreadNote } from '../components/note.tsx'
import { TextLine } from '../components/text-line.tsx'
import { usePrincipal } from '../state/account.ts'
import { count } from '../state/format.ts'
import {
  type BaseDraft,
  type BaseField,
  baseOf,
  doubledAttribute,
  draftOf,
  emptyBase,
  fieldOf,
  findingsByField,
} from '../state/knowledge-draft.ts'
import { refreshKnowledge, useBase } from '../state/knowledge-queries.ts'
import { witan } from '../state/witan.ts'

/** A base that there is not yet. */
export function NewBasePage() {
  const isAdmin = usePrincipal()?.roles.includes('admin')
  if (isAdmin === false) return <NotYours />
  return <BaseForm base={null} />
}

/** A base that there is. One from code is changed there. */
export function EditBasePage({ baseId }: { readonly baseId: string }) {
  const base = useBase(baseId)
  const isAdmin = usePrincipal()?.roles.includes('admin')
  if (base.data === undefined) return <UnreadNote query={base} what="the base" page={baseId} />
  if (isAdmin === false || base.data.source === 'code') return <NotYours />
  return <BaseForm key={baseId} base={base.data} />
}

function NotYours() {
  return (
    <EmptyNote isPage title="This base is not changed here">
      A base from code is changed in its code, and others by who has the role <code className="font-mono">admin</code>.
      All bases are under{' '}
      <Link to="/knowledge" className="text-accent underline">
        Knowledge
      </Link>
      .
    </EmptyNote>
  )
}

/** So long after the last key the server is asked. */
const checkAfterMs = 400

/** What a check finds of the draft; undefined until it has come. */
function useFindings(draft: BaseDraft, isAsked: boolean): readonly Finding[] | undefined {
  const text = JSON.stringify(baseOf(draft))
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), checkAfterMs)
    return () => clearTimeout(timer)
  }, [text])
  const check = useQuery({
    queryKey: ['check', 'knowledge', settled],
    queryFn: () => witan.agents.check([], undefined, [JSON.parse(settled)]),
    enabled: isAsked,
    staleTime: 0,
    gcTime: 0,
  })
  if (settled !== text || check.data === undefined) return undefined
  return [...check.data.errors, ...check.data.warnings]
}

function BaseForm({ base }: { readonly base: StoredKnowledgeBase | null }) {
  const navigate = useNavigate()
  const [draft, setDraft] = useState<BaseDraft>(() => (base === null ? emptyBase : draftOf(base)))
  const [saving, setSaving] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const findings = useFindings(draft, draft.id !== '')
  const byField = findingsByField(findings ?? [])
  const doubled = doubledAttribute(draft)
  const isWrong = doubled !== null || (findings ?? []).some(({ severity }) => severity === 'error')
  const put = (change: Partial<BaseDraft>) => {
    setDraft({ ...draft, ...change })
    setError(null)
  }
  const save = async (event: FormEvent) => {
    event.preventDefault()
    if (saving || isWrong || draft.id === '') return
    setSaving(true)
    setError(null)
    try {
      // Revision 0 is that of what does not exist: a new base replaces none.
      await witan.knowledge.save(baseOf(draft), { ifMatch: base?.revision ?? 0 })
      refreshKnowledge()
      await navigate({ to: '/knowledge/$baseId', params: { baseId: draft.id } })
    } catch (reason) {
      setError(reason)
      setSaving(false)
    }
  }
  const refusedAt = isWitanError(error) && typeof error.path === 'string' ? fieldOf(error.path) : null
  const problem = (field: BaseField): ReactNode =>
    problemAt(field, byField, refusedAt === field && isWitanError(error) ? error : null)
  return (
    <div className="h-full overflow-y-auto">
      <form
        aria-label="Knowledge base"
        onSubmit={(event) => void save(event)}
        className="mx-auto max-w-3xl space-y-5 p-4 md:p-6"
        noValidate
      >
        <div>
          <Link to="/knowledge" className="text-accent underline-offset-2 hover:underline">
            ← All bases
          </Link>
          <h1 className="mt-1 text-lg font-semibold">
            {base === null ? 'New knowledge base' : `Edit ${shownText(base.name ?? base.id)}`}
          </h1>
        </div>
        <BaseFields draft={draft} isNew={base === null} problem={problem} onChange={put} />
        {(byField.get(null) ?? []).map((finding) => (
          <p
            key={`${finding.agent} ${finding.path} ${finding.code}`}
            className="rounded-md border border-fail-line bg-fail-soft px-3 py-2"
          >
            {finding.detail} <span className="text-muted">{finding.hint}</span>{' '}
            <span className="font-mono text-xs text-fail">{finding.code}</span>
          </p>
        ))}
        {doubled !== null && <p className="text-fail">Two attributes are called "{shownText(doubled)}".</p>}
        {error !== null && refusedAt === null && <ProblemNote error={error} />}
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" look="primary" disabled={saving || isWrong || draft.id === ''}>
            {saving ? 'Saving …' : 'Save'}
          </Button>
          {base === null ? (
            <Link to="/knowledge" className={buttonLook('plain')}>
              Cancel
            </Link>
          ) : (
            <Link to="/knowledge/$baseId" params={{ baseId: base.id }} className={buttonLook('plain')}>
              Cancel
            </Link>
          )}
          <CheckStatus findings={findings} isAsked={draft.id !== ''} />
        </div>
      </form>
    </div>
  )
}

function CheckStatus({
  findings,
  isAsked,
}: {
  readonly findings: readonly Finding[] | undefined
  readonly isAsked: boolean
}) {
  const words =
    findings === undefined ? 'Checking …' : findings.length === 0 ? 'No findings' : count(findings.length, 'finding')
  return (
    <p role="status" aria-label="Check" className="text-muted">
      {isAsked ? words : ''}
    </p>
  )
}

function problemAt(
  field: BaseField,
  found: ReadonlyMap<BaseField | null, readonly Finding[]>,
  refused: { readonly message: string; readonly hint: string | null } | null,
): ReactNode {
  const here = found.get(field) ?? []
  if (here.length === 0 && refused === null) return undefined
  const shown = here.length > 0 ? here : [{ detail: refused?.message ?? '', hint: refused?.hint ?? '', path: field }]
  return shown.map(({ detail, hint, path }) => (
    <p key={`${path} ${detail}`} className="break-words">
      {shownText(detail)} {hint}
    </p>
  ))
}

interface FieldsProps {
  readonly draft: BaseDraft
  readonly isNew: boolean
  readonly problem: (field: BaseField) => ReactNode
  readonly onChange: (change: Partial<BaseDraft>) => void
}

const languages = [
  ['en', 'English: words by their stem'],
  ['none', 'Any: words as they are written'],
] as const

function BaseFields({ draft, isNew, problem, onChange }: FieldsProps) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextLine
          label="Id"
          value={draft.id}
          onChange={(id) => onChange({ id })}
          code
          disabled={!isNew}
          problem={problem('id')}
          about={isNew ? 'Small letters, digits and hyphens. Agents list it by this id.' : 'It stays.'}
        />
        <TextLine label="Name" value={draft.name} onChange={(name) => onChange({ name })} problem={problem('name')} />
      </div>
      <TextLine
        label="Description"
        value={draft.description}
        onChange={(description) => onChange({ description })}
        rows={3}
        problem={problem('description')}
        about="What is in it. Models read this to decide whether to search it."
      />
      <AttributeTable
        attributes={draft.attributes}
        problem={problem('attributes')}
        onChange={(attributes) => onChange({ attributes })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextLine
          label="Language"
          value={draft.language}
          onChange={(language) => onChange({ language })}
          options={languages}
          problem={problem('language')}
        />
        <TextLine
          label="Characters of a passage"
          value={draft.passageCharacters}
          onChange={(passageCharacters) => onChange({ passageCharacters })}
          code
          problem={problem('passageCharacters')}
          about="At most so many, 200 to 4,000."
        />
      </div>
      <TextLine
        label="Embedding model"
        value={draft.embedding}
        onChange={(embedding) => onChange({ embedding })}
        code
        placeholder="none: words alone rank"
        problem={problem('embedding')}
        about="A model of a connection, such as local/embed-small. It ranks beside the words."
      />
      <details
        open={draft.source !== '' || draft.query !== ''}
        className="rounded-md border border-line bg-panel px-4 py-3"
      >
        <summary className="min-h-6 cursor-pointer font-medium">
          Search a table that exists, instead of documents
        </summary>
        <div className="mt-3 space-y-4">
          <TextLine
            label="Source"
            value={draft.source}
            onChange={(source) => onChange({ source })}
            code
            placeholder="crm"
            problem={problem('source')}
          />
          <TextLine
            label="Query"
            value={draft.query}
            onChange={(query) => onChange({ query })}
            rows={5}
            code
            problem={problem('query')}
            about="It selects id, title, text and uri. $query, $limit and each attribute of a filter are bound."
          />
        </div>
      </details>
    </>
  )
}
