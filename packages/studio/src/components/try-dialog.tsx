/** Tries a function or a query of an agent alone: a form of its arguments and of the conversation's parameters, and what came of it. */
import { isWitanError } from '@witan/client'
import type { GivenParameter, StoredAgent } from '@witan/protocol'
import type { AgentTool, Trial } from '@witan/protocol/tools'
import { useId, useState } from 'react'
import { type ArgumentField, argumentFields, writtenArguments } from '../state/tool-arguments.ts'
import { witan } from '../state/witan.ts'
import { Dialog } from './dialog.tsx'
import { JsonBlock } from './json-block.tsx'
import { ProblemNote } from './note.tsx'
import { ParameterFields } from './parameter-fields.tsx'

interface TryProps {
  readonly agent: StoredAgent
  readonly tool: AgentTool
  readonly onClose: () => void
}

/** The kinds that run alone. */
export function runsAlone({ kind }: Pick<AgentTool, 'kind'>): boolean {
  return kind === 'function' || kind === 'query'
}

/** What it may do must be confirmed before it is sent. */
export function TryDialog({ agent, tool, onClose }: TryProps) {
  // What has the name of a parameter is bound.
  const bound = new Set(agent.parameters.map(({ name }) => name))
  const fields = argumentFields(tool.parameters).filter(({ name }) => !bound.has(name))
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({})
  const [allowed, setAllowed] = useState({ confirm: false, approve: false })
  const [came, setCame] = useState<{ readonly trial?: Trial; readonly error?: unknown } | 'running' | null>(null)
  const send = async (parameters: Record<string, GivenParameter>) => {
    const read = writtenArguments(fields, texts)
    setProblems(read.problems)
    if (Object.keys(read.problems).length > 0) return
    setCame('running')
    try {
      setCame({
        trial: await witan.agents.tools.try(agent.id, tool.name, { ...allowed, arguments: read.written, parameters }),
      })
    } catch (error) {
      setCame({ error })
    }
  }
  const needsApproval =
    tool.approval !== 'never' ||
    (came !== null && came !== 'running' && isWitanError(came.error) && came.error.code === 'APPROVAL_REQUIRED')
  return (
    <Dialog title={`Try ${tool.name}`} onClose={onClose}>
      <p className="text-muted">It runs as you, with the values of a new conversation, and leaves no conversation.</p>
      <ParameterFields
        agent={agent}
        words={came === 'running' ? 'Running …' : 'Run'}
        onGiven={(given) => void send(given)}
      >
        {fields.map((field) => (
          <ArgumentLine
            key={field.name}
            field={field}
            text={texts[field.name] ?? ''}
            problem={problems[field.name]}
            onText={(text) => setTexts({ ...texts, [field.name]: text })}
          />
        ))}
        {tool.effect !== 'none' && (
          <Check
            words="It has an effect outside, and may have it now"
            isOn={allowed.confirm}
            onChange={(confirm) => setAllowed({ ...allowed, confirm })}
          />
        )}
        {needsApproval && (
          <Check
            words="I approve this call"
            isOn={allowed.approve}
            onChange={(approve) => setAllowed({ ...allowed, approve })}
          />
        )}
      </ParameterFields>
      <div aria-live="polite">{came !== null && came !== 'running' && <Outcome {...came} />}</div>
    </Dialog>
  )
}

function Check(props: { readonly words: string; readonly isOn: boolean; readonly onChange: (isOn: boolean) => void }) {
  const { words, isOn, onChange } = props
  return (
    <label className="flex min-h-9 items-center gap-2">
      <input
        type="checkbox"
        className="size-4 accent-accent"
        checked={isOn}
        onChange={(event) => onChange(event.target.checked)}
      />
      {words}
    </label>
  )
}

interface LineProps {
  readonly field: ArgumentField
  readonly text: string
  readonly problem: string | undefined
  readonly onText: (text: string) => void
}

function ArgumentLine({ field, text, problem, onText }: LineProps) {
  const id = useId()
  const { name, description, isRequired, kind, choices } = field
  const shared = {
    id,
    value: text,
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-about`,
    className: 'field font-mono',
    onChange: (event: { readonly target: { readonly value: string } }) => onText(event.target.value),
  }
  const options = kind === 'boolean' ? ['true', 'false'] : choices
  return (
    <div>
      <label htmlFor={id} className="font-mono font-medium">
        {name}
      </label>
      {isRequired && <span className="ml-2 text-xs text-muted">required</span>}
      {options.length > 0 ? (
        <select {...shared}>
          <option value="">choose …</option>
          {options.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : (
        <input {...shared} placeholder={kind === 'json' ? 'JSON' : ''} autoComplete="off" spellCheck={false} />
      )}
      <p id={`${id}-about`} className={`mt-1 text-xs ${problem === undefined ? 'text-muted' : 'text-fail'}`}>
        {problem ?? description}
      </p>
    </div>
  )
}

function Outcome({ trial, error }: { readonly trial?: Trial; readonly error?: unknown }) {
  if (trial === undefined) return <ProblemNote error={error} />
  const { status, result, bound, notices, elapsedMs } = trial
  return (
    <section aria-label="Result" className="space-y-2">
      <p>
        <span className="font-semibold">{status}</span>
        <span className="text-muted">
          {' '}
          in {elapsedMs} ms{bound.length > 0 && <>, with bound {bound.join(', ')}</>}
        </span>
      </p>
      {trial.error !== null && (
        <p className="break-words text-fail">
          <span className="mr-2 font-mono text-xs">{trial.error.code}</span>
          {trial.error.detail}
        </p>
      )}
      {status === 'waiting' && (
        <p className="text-muted">It asks somebody, or runs an agent, and goes no further here.</p>
      )}
      {notices.map(({ code, detail }) => (
        <p key={`${code} ${detail}`} className="break-words text-muted">
          <span className="mr-2 font-mono text-xs text-wait">{code}</span>
          {detail}
        </p>
      ))}
      {status === 'completed' && <JsonBlock label="Result, as its model would read it" value={result} />}
    </section>
  )
}
