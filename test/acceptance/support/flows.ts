/** What tests of workflows share: their definitions. */
import type { AgentJson } from './stage.ts'

/** A workflow with its agents. */
export const flow = (id: string, kind: string, agents: unknown[]): AgentJson => ({ id, workflow: { kind, agents } })

/** The same workflow with more keys. */
export const withKeys = ({ workflow, ...rest }: AgentJson, more: object): AgentJson => ({
  ...rest,
  workflow: { ...(workflow as object), ...more },
})
