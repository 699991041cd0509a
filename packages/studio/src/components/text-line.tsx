/** A labelled line of text, a number or a choice, with what is said about it and what is wrong with it below. */
import { type ReactNode, useId } from 'react'

interface LineProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** Below the field; what is wrong stands in its place. */
  readonly about?: ReactNode
  readonly problem?: ReactNode
  readonly placeholder?: string
  /** Code: a fixed width. */
  readonly code?: boolean
  readonly rows?: number
  readonly secret?: boolean
  readonly disabled?: boolean
  readonly options?: readonly (readonly [value: string, words: string])[]
}

/** `rows` makes it a text of several lines, `options` a choice. */
export function TextLine({ label, value, onChange, about, problem, options, rows, ...rest }: LineProps) {
  const id = useId()
  const isWrong = problem !== undefined && problem !== null
  const shared = {
    id,
    value,
    disabled: rest.disabled,
    'aria-invalid': isWrong,
    'aria-describedby': isWrong || about !== undefined ? `${id}-about` : undefined,
    className: `field mt-1 ${rest.code === true ? 'font-mono' : ''}`,
    onChange: (event: { readonly target: { readonly value: string } }) => onChange(event.target.value),
  }
  const typed = { ...shared, placeholder: rest.placeholder, autoComplete: 'off', spellCheck: rest.code !== true }
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="label">
        {label}
      </label>
      {options !== undefined ? (
        <select {...shared}>
          {options.map(([one, words]) => (
            <option key={one} value={one}>
              {words}
            </option>
          ))}
        </select>
      ) : rows !== undefined ? (
        <textarea {...typed} rows={rows} />
      ) : (
        <input {...typed} type={rest.secret === true ? 'password' : 'text'} />
      )}
      {(isWrong || about !== undefined) && (
        <div id={`${id}-about`} className={`mt-1 text-xs ${isWrong ? 'text-fail' : 'text-muted'}`}>
          {isWrong ? problem : about}
        </div>
      )}
    </div>
  )
}
