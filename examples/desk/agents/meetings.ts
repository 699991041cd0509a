/** The calendar: who meets when, and when several people are free. */
import { type Agent, defineAgent } from '@witan/core'
import type { ModelFor } from '../model.ts'
import { meetingsScript } from '../scripts/meetings.ts'
import { meetingTools } from '../tools/meetings.ts'
import { setting } from '../world.ts'

export const meetingsAgent = (model: ModelFor, calendar: string): Agent =>
  defineAgent({
    id: 'meetings',
    name: 'Meetings',
    description: 'Knows the calendar: who meets when, and when several people are free at once, in their time zones.',
    model: model('meetings', meetingsScript),
    instructions: `${setting}
You look into the calendar. The tools know recurrences, time zones and the change of clocks: never compute times yourself, and quote them as they are.`,
    tools: meetingTools(calendar),
  })
