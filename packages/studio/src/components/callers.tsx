/** Who may call an agent, for whom, and who may use those of its tools that have a list: in words. Nothing for an agent that says nothing. */
import type { StoredAgent } from '@witan/protocol'
import { callerWords } from '@witan/protocol/access'
import { shownText } from '@witan/protocol/shown'
import { Fragment } from 'react'

type Access = StoredAgent['access']
type Entries = NonNullable<Access['call']>

/** The section of an agent with access lists or an address. */
export function Callers({ agent: { access, address } }: { readonly agent: StoredAgent }) {
  const tools = Object.entries(access.tools ?? {})
  if (access.call === null && address == null && tools.length === 0) return null
  return (
    <section>
      <h2 className="text-base font-semibold">Who may call it</h2>
      <dl className="mt-3 grid gap-x-6 gap-y-2 rounded-md border border-line bg-panel px-4 py-3 sm:grid-cols-[auto_minmax(0,1fr)]">
        <dt className="text-muted">May call it</dt>
        <dd>
          {access.call === null ? 'Everybody of this database, and nobody from outside.' : <Names of={access.call} />}
        </dd>
        {tools.map(([tool, entries]) => (
          <Fragment key={tool}>
            <dt className="text-muted">
              May use <code className="break-all">{tool}</code>
            </dt>
            <dd>
              <Names of={entries} />
            </dd>
          </Fragment>
        ))}
      </dl>
    </section>
  )
}

function Names({ of }: { readonly of: Entries }) {
  if (of.length === 0) return 'Nobody.'
  return (
    <ul>
      {of.map((entry) => (
        <li key={String(entry)} className="break-words">
          {shownText(callerWords([entry].flat()))}
        </li>
      ))}
    </ul>
  )
}
