/** The lines that ask for a conversation's parameters: a value, and whether to keep it from every model. */
import { useId } from 'react'
import type { ParameterDraft, ParameterField } from '../state/parameters.ts'
import { useAgentName } from '../state/queries.ts'
import { HiddenMark, TrustedMark } from './parameter-table.tsx'

/** What the form holds, by parameter name. */
export type ParameterDrafts = Readonly<Record<string, ParameterDraft>>

const empty: ParameterDraft = { text: '', hide: false }

/** A form with every field; `problems` are shown below their fields. */
export function ParameterForm(props: {
  readonly fields: readonly ParameterField[]
  readonly drafts: ParameterDrafts
  readonly problems: Readonly<Record<string, string>>
  readonly onChange: (drafts: ParameterDrafts) => void
}) {
  const { fields, drafts, problems, onChange } = props
  if (fields.length === 0) return <p className="text-muted">This agent and the ones below it declare no parameters.</p>
  return (
    <ul className="space-y-4">
      {fields.map((field) => (
        <FieldLine
          key={field.name}
          field={field}
          draft={drafts[field.name] ?? empty}
          problem={problems[field.name]}
          onChange={(draft) => onChange({ ...drafts, [field.name]: draft })}
        />
      ))}
    </ul>
  )
}

interface LineProps {
  readonly field: ParameterField
  readonly draft: ParameterDraft
  readonly problem: string | undefined
  readonly onChange: (draft: ParameterDraft) => void
}

function FieldLine({ field, draft, problem, onChange }: LineProps) {
  const id = useId()
  const nameOf = useAgentName()
  return (
    <li>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <label htmlFor={id} className="font-mono font-medium">
          {field.name}
        </label>
        <span className="font-mono text-xs text-muted">{field.type}</span>
        {field.trusted && <TrustedMark />}
        {field.alwaysHidden && <HiddenMark />}
        {!field.required && (
          <span className="text-xs text-muted">{field.trusted ? 'only you can give it' : 'may stay empty'}</span>
        )}
      </div>
      <div className="mt-1 flex flex-wrap items-center gap-x-4 gap-y-1.5">
        <div className="min-w-0 flex-1 basis-52">
          <ValueInput id={id} field={field} draft={draft} problem={problem} onChange={onChange} />
        </div>
        <label className="flex min-h-9 items-center gap-2">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={draft.hide || field.alwaysHidden}
            disabled={field.alwaysHidden}
            onChange={(event) => onChange({ ...draft, hide: event.target.checked })}
          />
          Hide from models
        </label>
      </div>
      <p className="mt-1 text-xs text-muted">
        {field.description} {field.usedBy.length > 0 && <>Read by {field.usedBy.map(nameOf).join(', ')}.</>}
      </p>
      {problem !== undefined && (
        <p id={`${id}-problem`} className="mt-1 text-fail">
          {problem}
        </p>
      )}
    </li>
  )
}

function ValueInput({ id, field, draft, problem, onChange }: LineProps & { readonly id: string }) {
  const shared = {
    id,
    className: 'field font-mono',
    value: draft.text,
    'aria-invalid': problem !== undefined,
    'aria-describedby': problem === undefined ? undefined : `${id}-problem`,
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ ...draft, text: event.target.value }),
  }
  if (field.type === 'boolean') {
    return (
      <select {...shared}>
        <option value="">choose …</option>
        <option>true</option>
        <option>false</option>
      </select>
    )
  }
  const placeholder = field.type.endsWith('[]') ? 'a JSON list' : field.type === 'any' ? 'text, or JSON' : ''
  const type = field.secret ? 'password' : 'text'
  const inputMode = field.type === 'number' ? 'decimal' : 'text'
  return (
    <input
      {...shared}
      type={type}
      inputMode={inputMode}
      placeholder={placeholder}
      autoComplete="off"
      spellCheck={false}
    />
  )
}
