/** The definition of an agent, field by field, with what a check finds at each. */
import type { Finding, StoredAgent } from '@witan/protocol'
import { useLayoutEffect, useMemo, useRef } from 'react'
import { CopyButton } from '../components/copy-button.tsx'
import { FindingNote, findingKey, useFindings } from '../components/findings.tsx'
import { JsonBlock } from '../components/json-block.tsx'
import { LongText } from '../components/long-text.tsx'
import { type DefinitionField, definitionFields, shownField } from '../state/findings.ts'
import { useAgents } from '../state/queries.ts'
import { withoutStored } from '../state/without-stored.ts'

interface PageProps {
  readonly agentId: string
  /** The path of the field that is shown first; the address has it. */
  readonly field: string | undefined
}

/** A definition from code is changed there, and one that is data by saving another. */
export function DefinitionPage({ agentId, field }: PageProps) {
  const agent = useAgents().data?.find(({ id }) => id === agentId)
  return agent === undefined ? null : <Definition key={agentId} agent={agent} field={field} />
}

function Definition({ agent, field }: { readonly agent: StoredAgent } & Pick<PageProps, 'field'>) {
  const findings = useFindings(agent)
  const fields = useMemo(() => definitionFields(withoutStored(agent)), [agent])
  const list = useRef<HTMLDivElement>(null)
  const wanted = field === undefined ? null : shownField(fields, field)
  useLayoutEffect(() => {
    if (wanted === null) return
    const element = list.current?.querySelector<HTMLElement>(`[data-field="${CSS.escape(wanted)}"]`)
    element?.scrollIntoView({ block: 'center' })
    element?.focus({ preventScroll: true })
  }, [wanted])
  const found = new Map<string, Finding[]>()
  for (const one of findings) {
    const at = shownField(fields, one.path) ?? ''
    found.set(at, [...(found.get(at) ?? []), one])
  }
  return (
    <section aria-label="Definition">
      <div className="flex flex-wrap items-start justify-between gap-2">
        <div>
          <h2 className="text-base font-semibold">Definition</h2>
          <p className="text-muted">
            {agent.source === 'code' ? 'It comes from code, and is changed there.' : 'It is data of this server.'}
          </p>
        </div>
        <CopyButton words="Copy as JSON" text={() => JSON.stringify(withoutStored(agent), null, 2)} />
      </div>
      {(found.get('') ?? []).map((one) => (
        <FindingNote key={findingKey(one)} finding={one} />
      ))}
      <div ref={list} className="mt-2 border-t border-line">
        {fields.map((one) => (
          <Field key={one.path} field={one} found={found} wanted={wanted} />
        ))}
      </div>
    </section>
  )
}

interface FieldProps {
  readonly field: DefinitionField
  readonly found: ReadonlyMap<string, readonly Finding[]>
  readonly wanted: string | null
}

/** A field takes the focus where somebody comes to it, and names what was found at it. */
function Field({ field, found, wanted }: FieldProps) {
  const { path, name, fields } = field
  const here = found.get(path) ?? []
  // The places of a list need less room than names.
  const columns = /^\d+$/.test(name)
    ? 'grid-cols-[1.25rem_minmax(0,1fr)]'
    : 'sm:grid-cols-[minmax(6rem,10rem)_minmax(0,1fr)]'
  const ids = here.map((_, index) => `finding-${path}-${index}`)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has another meaning.
    <div
      role="group"
      aria-label={path}
      {...(ids.length === 0 ? {} : { 'aria-describedby': ids.join(' ') })}
      data-field={path}
      tabIndex={-1}
      className={`grid gap-x-4 gap-y-1 border-b border-line px-2 py-1.5 last:border-b-0 ${columns} ${path === wanted ? 'bg-accent-soft' : ''}`}
    >
      <p className="break-all font-mono text-xs leading-5 text-muted">{name}</p>
      <div className="min-w-0 space-y-2">
        {fields.length === 0 ? (
          <Value value={field.value} name={name} />
        ) : (
          <div className="rounded-md border border-line">
            {fields.map((one) => (
              <Field key={one.path} field={one} found={found} wanted={wanted} />
            ))}
          </div>
        )}
        {here.map((one, index) => (
          <FindingNote key={findingKey(one)} id={ids[index] ?? ''} finding={one} />
        ))}
      </div>
    </div>
  )
}

function Value({ value, name }: { readonly value: unknown; readonly name: string }) {
  if (value === null || value === undefined) return <span className="text-muted">none</span>
  if (typeof value === 'string')
    return value === '' ? <span className="text-muted">empty</span> : <LongText label={name} text={value} />
  if (typeof value !== 'object') return <span className="font-mono text-xs leading-5">{String(value)}</span>
  if (Object.keys(value).length === 0)
    return <span className="text-muted">{Array.isArray(value) ? 'none' : 'empty'}</span>
  return <JsonBlock label="" value={value} />
}
