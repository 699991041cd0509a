/** What a check finds in an agent, each with the way to the field that it is about. */
import { Link } from '@tanstack/react-router'
import type { Finding, StoredAgent } from '@witan/protocol'
import type { ReactNode } from 'react'
import { usePrincipal } from '../state/account.ts'
import { findingsOf } from '../state/findings.ts'
import { useCheck } from '../state/queries.ts'

/** Nothing where there are none. */
export function Findings({ agent }: { readonly agent: StoredAgent }) {
  const findings = useFindings(agent)
  if (findings.length === 0) return null
  return (
    <section aria-label="Findings">
      <h2 className="text-base font-semibold">Findings</h2>
      <ul className="mt-2 space-y-2">
        {findings.map((finding) => (
          <li key={findingKey(finding)}>
            <FindingNote finding={finding}>
              <Link
                to="/agents/$agentId/definition"
                params={{ agentId: agent.id }}
                search={finding.path === '' ? {} : { field: finding.path }}
                className="break-all font-mono text-accent underline underline-offset-2"
              >
                {finding.path === '' ? 'the definition' : finding.path}
              </Link>
            </FindingNote>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Errors first; what an admin's check says, and for others the warnings that are stored. */
export function useFindings(agent: StoredAgent): readonly Finding[] {
  const isAdmin = usePrincipal()?.roles.includes('admin') === true
  return findingsOf(agent, useCheck(agent, isAdmin).data)
}

/** Tells two findings apart. */
export function findingKey({ code, agent, path, detail }: Finding): string {
  return `${code} ${agent} ${path} ${detail}`
}

interface NoteProps {
  readonly finding: Finding
  readonly id?: string
  /** Where it is. */
  readonly children?: ReactNode
}

/** One finding: what is wrong, what to do, and its code. */
export function FindingNote({ finding: { severity, code, detail, hint }, id, children }: NoteProps) {
  const isError = severity === 'error'
  const look = isError ? 'border-fail-line bg-fail-soft' : 'border-wait-line bg-wait-soft'
  return (
    <div id={id} className={`rounded-md border px-3 py-2 ${look}`}>
      <p className="break-words">{detail}</p>
      <p className="break-words text-muted">{hint}</p>
      <p className="mt-1 flex flex-wrap gap-x-3 text-xs">
        <span className={isError ? 'text-fail' : 'text-wait'}>
          {isError ? '✕ error' : '▲ warning'} <span className="font-mono">{code}</span>
        </span>
        {children}
      </p>
    </div>
  )
}
