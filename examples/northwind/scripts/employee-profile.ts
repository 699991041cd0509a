/** The script of the employee profile agent. */
import { call, lines, named, routes, tell } from './routes.ts'

const whole = /\baddress to (.+?)[.!]?$/i

/** Knows only the employee that the conversation is about; it never sees the id. */
export const employeeProfileScript = routes(
  [
    {
      match: /\b(manager|boss|reports? to)\b/i,
      steps: [
        () => call('get-my-manager'),
        tell(
          ([row]) => `Your manager is ${row?.name}, ${row?.title}, in ${row?.city} (extension ${row?.extension}).`,
          'You report to nobody: you are at the top.',
        ),
      ],
    },
    {
      match: /\bteam\b/i,
      steps: [
        () => call('get-my-team'),
        tell(
          (rows) => `These people report to you:\n${lines(rows, (row) => `${row.name}, ${row.title}, ${row.city}`)}`,
          'Nobody reports to you.',
        ),
      ],
    },
    {
      match: /\b(record|profile|extension)\b/i,
      steps: [
        () => call('get-my-record'),
        tell(
          ([row]) =>
            `You are ${row?.name}, ${row?.title}, with us since ${row?.hire_date}. You live at ${row?.address}, ${row?.city}; your extension is ${row?.extension}.`,
          'There is no record of you.',
        ),
      ],
    },
    {
      match: /\bterritor/i,
      steps: [
        () => call('get-my-territories'),
        tell(
          (rows) => `Your territories: ${rows.map((row) => `${row.territory} (${row.region})`).join(', ')}.`,
          'You have no territories.',
        ),
      ],
    },
    {
      match: whole,
      steps: [
        ({ message }) => {
          const [address = '', city = '', postalCode = '', country = ''] = named(message, whole)
            .split(',')
            .map((part) => part.trim())
          return call('ChangeMyAddress', { address, city, postalCode, country })
        },
        tell(() => 'Your address was changed.', 'Your address was changed.'),
      ],
    },
  ],
  'I am a script and know your manager, your team, your record and your territories.',
)
