/** The attributes of a base in its form: each with a name, a type, and whether every agent must filter by it. */
import type { AttributeType } from '@witan/protocol/knowledge'
import { type ReactNode, useId } from 'react'
import type { AttributeDraft } from '../state/knowledge-draft.ts'
import { Button } from './button.tsx'

const types: readonly AttributeType[] = ['string', 'number', 'boolean', 'string[]']

interface TableProps {
  readonly attributes: readonly AttributeDraft[]
  readonly problem: ReactNode
  readonly onChange: (attributes: readonly AttributeDraft[]) => void
}

/** A line for each; a line without a name counts as none. */
export function AttributeTable({ attributes, problem, onChange }: TableProps) {
  const about = useId()
  const put = (changed: AttributeDraft) => onChange(attributes.map((one) => (one.key === changed.key ? changed : one)))
  const add = () => {
    const key = 1 + Math.max(-1, ...attributes.map((one) => one.key))
    onChange([...attributes, { key, name: '', type: 'string', required: false }])
  }
  const isWrong = problem !== undefined && problem !== null
  return (
    <fieldset aria-describedby={about} className="min-w-0 space-y-2">
      <legend className="label">Attributes</legend>
      {attributes.map((one, index) => (
        <AttributeLine
          key={one.key}
          attribute={one}
          number={index + 1}
          onChange={put}
          onRemove={() => onChange(attributes.filter(({ key }) => key !== one.key))}
        />
      ))}
      <Button onClick={add}>Add an attribute</Button>
      <div id={about} className={`text-xs ${isWrong ? 'text-fail' : 'text-muted'}`}>
        {isWrong
          ? problem
          : 'What a document says of itself, such as its customer. Agents see only documents whose attributes equal their values.'}
      </div>
    </fieldset>
  )
}

interface LineProps {
  readonly attribute: AttributeDraft
  readonly number: number
  readonly onChange: (attribute: AttributeDraft) => void
  readonly onRemove: () => void
}

function AttributeLine({ attribute, number, onChange, onRemove }: LineProps) {
  const { name, type, required } = attribute
  return (
    <div className="flex flex-wrap items-center gap-2">
      <input
        aria-label={`Name of attribute ${number}`}
        className="field min-w-0 flex-1 basis-32 font-mono"
        value={name}
        placeholder="customer"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange({ ...attribute, name: event.target.value })}
      />
      <select
        aria-label={`Type of attribute ${number}`}
        className="field w-28 shrink-0"
        value={type}
        onChange={(event) => onChange({ ...attribute, type: event.target.value as AttributeType })}
      >
        {types.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <label className="flex min-h-9 items-center gap-2">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={required}
          onChange={(event) => onChange({ ...attribute, required: event.target.checked })}
        />
        every agent must filter by it
      </label>
      <Button look="quiet" aria-label={`Remove attribute ${number}`} onClick={onRemove}>
        Remove
      </Button>
    </div>
  )
}
