/** Who gets which parameter, on every path from an agent: from where, whether its model sees it, and whether a model may make it up. */
import type { StoredAgent } from '@witan/protocol'
import { count } from '../state/format.ts'
import { useCheck } from '../state/queries.ts'
import { ScrollBox } from './scroll-box.tsx'
import { UnreadNote } from './note.tsx'

/** The most rows that are shown. */
const most = 200

const sources = {
  conversation: 'the conversation',
  parent: 'its caller',
  model: 'the model of its caller',
  missing: 'nobody',
} as const

/** For admins, who may ask for a check; nothing where no agent on any path declares a parameter. */
export function ParameterMatrix({ agent }: { readonly agent: StoredAgent }) {
  const report = useCheck(agent, true)
  if (report.data === undefined) return <UnreadNote query={report} what="the check" />
  const rows = report.data.matrix.filter(({ path }) => path === agent.id || path.startsWith(`${agent.id}/`))
  if (rows.length === 0) return null
  return (
    <ScrollBox label="Paths of parameters" className="mt-4">
      <table aria-label="Who gets which parameter" className="w-full text-left">
        <thead>
          <tr className="label border-b border-line">
            {['Path', 'Parameter', 'From', 'Shown', 'A model may write it'].map((title) => (
              <th key={title} className="py-1.5 pr-4 font-semibold">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map(({ path, parameter, boundFrom, shown, mayGenerate }) => (
            <tr key={`${path} ${parameter}`} className="border-b border-line align-top">
              <td className="break-all py-1.5 pr-4 font-mono text-xs">{path}</td>
              <td className="break-all py-1.5 pr-4 font-mono text-xs">{parameter}</td>
              <td className={`py-1.5 pr-4 ${boundFrom === 'missing' ? 'text-fail' : ''}`}>{sources[boundFrom]}</td>
              <td className="py-1.5 pr-4">{shown ? 'yes' : 'no'}</td>
              <td className="py-1.5">{mayGenerate ? 'yes' : 'no'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > most && <p className="mt-1 text-muted">{count(rows.length - most, 'more row')} are not shown.</p>}
    </ScrollBox>
  )
}
