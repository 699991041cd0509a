/** Times: recurrences with exceptions and moved instances, several zones over the change of clocks, whole days, and when people are free. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readApart } from './files/apart.ts'
import { freeTimes, shownSpan } from './files/free.ts'
import { atTime, dayAfter, instantMs, shownIn } from './files/zones.ts'
import { people, type Person } from './world.ts'

let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'witan-desk-calendar-'))
})
after(() => rm(folder, { recursive: true, force: true }))

const zone = 'Europe/Berlin'
const seeded = fileURLToPath(new URL('data/calendar.ics', import.meta.url))
const { signal } = new AbortController()

const read = (file: string, from: string, to: string) =>
  readApart(
    { kind: 'calendar', file, zone, fromMs: atTime(from, '0:00', zone), toMs: atTime(dayAfter(to), '0:00', zone) },
    signal,
  )

/** The meetings of an own file, as Berlin shows them. */
async function shown(lines: string, from: string, to: string): Promise<readonly string[]> {
  const file = join(folder, 'own.ics')
  await writeFile(
    file,
    `BEGIN:VCALENDAR\r\nVERSION:2.0\r\n${lines.trim().replace(/\n\s*/g, '\r\n')}\r\nEND:VCALENDAR\r\n`,
  )
  const { meetings, leftOut } = await read(file, from, to)
  assert.deepEqual(leftOut, [])
  return meetings.map((meeting) => shownSpan(meeting, zone).replace(` ${zone}`, ''))
}

const event = (lines: string) => `BEGIN:VEVENT\nUID:a\n${lines.trim()}\nSUMMARY:x\nEND:VEVENT`

for (const [what, lines, days, expected] of [
  [
    'an hour of Berlin stays, whatever the clocks do',
    event(
      `DTSTART;TZID=Europe/Berlin:20261019T153000\nDTEND;TZID=Europe/Berlin:20261019T160000\nRRULE:FREQ=WEEKLY;COUNT=3`,
    ),
    ['2026-10-19', '2026-11-08'],
    ['2026-10-19 15:30–16:00', '2026-10-26 15:30–16:00', '2026-11-02 15:30–16:00'],
  ],
  [
    'an hour of New York is another one in Berlin for a week',
    event(
      `DTSTART;TZID=America/New_York:20261022T100000\nDTEND;TZID=America/New_York:20261022T103000\nRRULE:FREQ=WEEKLY`,
    ),
    ['2026-10-19', '2026-11-08'],
    ['2026-10-22 16:00–16:30', '2026-10-29 15:00–15:30', '2026-11-05 16:00–16:30'],
  ],
  [
    'an exception is left out',
    event(
      `DTSTART;TZID=Europe/Berlin:20261019T090000\nDTEND;TZID=Europe/Berlin:20261019T093000\nRRULE:FREQ=DAILY;COUNT=3\nEXDATE;TZID=Europe/Berlin:20261020T090000`,
    ),
    ['2026-10-19', '2026-10-23'],
    ['2026-10-19 09:00–09:30', '2026-10-21 09:00–09:30'],
  ],
  [
    'a date beside the rule is added',
    event(`DTSTART:20261019T070000Z\nDTEND:20261019T073000Z\nRDATE:20261022T100000Z`),
    ['2026-10-19', '2026-10-23'],
    ['2026-10-19 09:00–09:30', '2026-10-22 12:00–12:30'],
  ],
  [
    'an instance is moved',
    `${event(`DTSTART;TZID=Europe/Berlin:20261019T090000\nDTEND;TZID=Europe/Berlin:20261019T093000\nRRULE:FREQ=WEEKLY;COUNT=2`)}\n${event(`RECURRENCE-ID;TZID=Europe/Berlin:20261026T090000\nDTSTART;TZID=Europe/Berlin:20261027T140000\nDTEND;TZID=Europe/Berlin:20261027T143000`)}`,
    ['2026-10-26', '2026-10-30'],
    ['2026-10-27 14:00–14:30'],
  ],
  [
    'an instance is moved to before',
    `${event(`DTSTART;TZID=Europe/Berlin:20261019T090000\nDTEND;TZID=Europe/Berlin:20261019T093000\nRRULE:FREQ=WEEKLY;COUNT=3`)}\n${event(`RECURRENCE-ID;TZID=Europe/Berlin:20261102T090000\nDTSTART;TZID=Europe/Berlin:20261020T140000\nDTEND;TZID=Europe/Berlin:20261020T143000`)}`,
    ['2026-10-19', '2026-10-23'],
    ['2026-10-19 09:00–09:30', '2026-10-20 14:00–14:30'],
  ],
  [
    'a whole day is that of the calendar',
    event(`DTSTART;VALUE=DATE:20261025\nDTEND;VALUE=DATE:20261026`),
    ['2026-10-20', '2026-10-30'],
    ['2026-10-25 00:00–2026-10-26 00:00'],
  ],
  [
    'a time without a zone too',
    event(`DTSTART:20261020T100000\nDURATION:PT45M`),
    ['2026-10-20', '2026-10-20'],
    ['2026-10-20 10:00–10:45'],
  ],
  [
    'what takes no time, and what is cancelled, is none',
    `${event(`DTSTART:20261020T100000Z\nDTEND:20261020T110000Z\nTRANSP:TRANSPARENT`)}\n${event(`DTSTART:20261020T100000Z\nDTEND:20261020T110000Z\nSTATUS:CANCELLED`).replace('UID:a', 'UID:b')}`,
    ['2026-10-20', '2026-10-20'],
    [],
  ],
  [
    'a zone that the file describes',
    `BEGIN:VTIMEZONE\nTZID:Halden\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0300\nTZOFFSETTO:+0300\nEND:STANDARD\nEND:VTIMEZONE\n${event(`DTSTART;TZID=Halden:20261020T100000\nDTEND;TZID=Halden:20261020T110000`)}`,
    ['2026-10-20', '2026-10-20'],
    ['2026-10-20 09:00–10:00'],
  ],
] as const)
  test(what, async () => assert.deepEqual(await shown(lines, days[0], days[1]), expected))

const [nora, jonas, tom, aiko] = people as readonly [Person, Person, Person, Person]

for (const [what, who, day, expected] of [
  ['before the clocks change Berlin is six hours ahead', [nora, tom], '2026-10-19', ['15:00–15:30', '16:30–17:00']],
  ['between the changes it is five', [nora, tom], '2026-10-26', ['14:00–15:30', '16:30–17:00']],
  ['after both it is six again; the review of that day is moved', [nora, tom], '2026-11-02', ['15:00–17:00']],
  ['the day to which it is moved', [nora, tom], '2026-11-03', ['16:00–17:00']],
  ['a day off is no time', [nora, jonas], '2026-10-23', []],
  ['the exception of the stand-up', [nora], '2026-10-23', ['09:00–17:00']],
  ['a weekend has no working hours', [nora, jonas], '2026-10-24', []],
  ['New York and Tokyo never work at once', [tom, aiko], '2026-10-21', []],
  ['a birthday takes no time', [aiko], '2026-10-21', ['02:00–10:00']],
] as const)
  test(`free: ${what}`, async () => {
    const { meetings } = await read(seeded, dayAfter(day, -1), dayAfter(day))
    const free = freeTimes({ who, from: day, to: day, minutes: 30 }, meetings, 10)
    assert.deepEqual(
      free.map(
        ({ start, end }) => `${shownIn(Date.parse(start), zone).slice(11)}–${shownIn(Date.parse(end), zone).slice(11)}`,
      ),
      expected,
    )
  })

test('a time that comes twice is the first one, and one that is left out is later', () => {
  assert.equal(new Date(instantMs(Date.UTC(2026, 9, 25, 2, 30), zone)).toISOString(), '2026-10-25T00:30:00.000Z')
  assert.equal(shownIn(instantMs(Date.UTC(2026, 2, 29, 2, 30), zone), zone), '2026-03-29 03:30')
})
