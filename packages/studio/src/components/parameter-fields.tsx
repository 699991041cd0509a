/** The form "Parameters" of an agent's page: the values of a conversation that does not begin. */
import { type FormEvent, type ReactNode, useMemo, useState } from 'react'
import type { GivenParameter, StoredAgent } from '@witan/protocol'
import { givenParameters, parameterFields } from '../state/parameters.ts'
import { useAgents, useGraph } from '../state/queries.ts'
import { Button } from './button.tsx'
import { type ParameterDrafts, ParameterForm } from './parameter-form.tsx'

interface FormProps {
  readonly agent: StoredAgent
  readonly words: string
  readonly onGiven: (given: Record<string, GivenParameter>) => void
  /** Values that are left out are missing, and no problem. */
  readonly mayLack?: boolean
  readonly children?: ReactNode
}

/** Calls `onGiven` when it is sent with values that can be read. */
export function ParameterFields({ agent, words, onGiven, mayLack = false, children }: FormProps) {
  const [drafts, setDrafts] = useState<ParameterDrafts>({})
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({})
  const agents = useAgents().data
  const nodes = useGraph(agent.id).data?.nodes
  const fields = useMemo(() => {
    const below = nodes?.flatMap(({ id }) => agents?.find((one) => one.id === id) ?? []) ?? []
    const all = [agent, ...below.filter(({ id }) => id !== agent.id)]
    return parameterFields(all).map((field) => (mayLack ? { ...field, required: false } : field))
  }, [agent, agents, nodes, mayLack])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const read = givenParameters(fields, drafts)
    setProblems(read.problems)
    if (Object.keys(read.problems).length === 0) onGiven(read.given)
  }
  return (
    <form aria-label="Parameters" onSubmit={submit} className="space-y-4" noValidate>
      {fields.length > 0 && <ParameterForm fields={fields} drafts={drafts} problems={problems} onChange={setDrafts} />}
      {children}
      <Button type="submit">{words}</Button>
    </form>
  )
}
