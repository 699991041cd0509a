/** What hooks have refused or rewritten of a call. */
import type { CallView } from '@witan/client'
import { shownText } from '@witan/protocol/shown'

const did = { refused: 'refused', rewritten: 'rewrote', failed: 'failed at' } as const

/** Where a hook is asked, in words. */
const places: Readonly<Record<string, string>> = {
  beforeRun: 'what was asked',
  beforeModel: 'the request to the model',
  afterModel: 'the reply of the model',
  beforeTool: 'a call of a tool',
  afterTool: 'a result',
  onInterruption: 'what people were asked',
  afterRun: 'the answer',
}

/** Nothing without any. */
export function HookList({ hooks }: Pick<CallView, 'hooks'>) {
  if (hooks.length === 0) return null
  return (
    <div>
      <p className="label">Hooks</p>
      <ul aria-label="Hooks" className="mt-1 divide-y divide-line rounded-md border border-line bg-panel">
        {hooks.map(({ seq, hook, point, effect, reason }) => (
          <li key={seq} className="px-2.5 py-1.5">
            <p className="break-words">
              <span className="font-mono">{shownText(hook)}</span> {did[effect]} {places[point] ?? shownText(point)}
              {reason !== null && effect === 'refused' ? `: ${shownText(reason)}` : '.'}
            </p>
          </li>
        ))}
      </ul>
    </div>
  )
}
