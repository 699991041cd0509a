/** The mails of the example, composed as a mail program would. */
import MailComposer from 'nodemailer/lib/mail-composer'

interface Seed {
  readonly date: string
  readonly from: string
  readonly subject: string
  readonly text?: string
  readonly html?: string
  readonly isRead?: boolean
  readonly attachment?: { readonly filename: string; readonly content: string }
  /** The number of the mail that it answers. */
  readonly answers?: number
}

const greta = '"Greta Huber" <greta.huber@alpine-foods.example>'
const jonas = '"Jonas Lind" <jonas@halden.example>'
const tom = '"Tom Reyes" <tom@halden.example>'

/** In order of time. */
const seeds: readonly Seed[] = [
  {
    date: '2026-10-12T08:12:00Z',
    from: greta,
    subject: 'Leaking seal on pump 7',
    isRead: true,
    text: 'Hello Nora,\n\nthe seal on pump 7 leaks again, for the second time this year. Could a technician look at it before the end of the month?\n\nGreta',
  },
  {
    date: '2026-10-13T15:40:00Z',
    from: tom,
    subject: 'Numbers for the US',
    isRead: true,
    text: 'Nora, here are the numbers of September for the US.\n\nTom',
    attachment: { filename: 'us-september.csv', content: 'product,units\npump,14\nvalve,92\n' },
  },
  {
    date: '2026-10-15T09:05:00Z',
    from: jonas,
    subject: 'Wartung für Baltic – Rückfrage',
    isRead: true,
    text: 'Hallo Nora,\n\nkönnen wir die Wartung für Baltic auf November verschieben? Dort wird im Oktober umgebaut.\n\nGrüße\nJonas',
  },
  {
    date: '2026-10-16T07:30:00Z',
    from: greta,
    subject: 'Re: Leaking seal on pump 7',
    answers: 0,
    text: 'Hello Nora,\n\nit has become worse since Monday. Is Friday, 23 October possible? We would stop line 2 in the morning for it.\n\nGreta',
  },
  {
    date: '2026-10-18T18:00:00Z',
    from: '"Pump World" <news@pump-world.example>',
    subject: 'What is new in seals',
    html: '<html><head><style>p { color: red }</style></head><body><h1>Seals</h1><p>Three new seals &amp; what they cost.</p></body></html>',
  },
  {
    date: '2026-10-19T06:20:00Z',
    from: tom,
    subject: 'Pipeline review today',
    text: 'Nora, can we talk about the renewal of Alpine Foods in the review today? Please bring the date on which their contract ends.\n\nTom',
  },
]

/** A mail as it lies in the mailbox: its name there, and its bytes. The same each time. */
export async function seedMails(
  to: string,
): Promise<readonly { readonly name: string; readonly isRead: boolean; readonly bytes: Buffer }[]> {
  return Promise.all(
    seeds.map(async ({ date, from, subject, text, html, isRead = false, attachment, answers }, number) => {
      const messageId = (of: number) => `<seed-${of}@halden.example>`
      const composer = new MailComposer({
        ...{
          from,
          to,
          subject,
          text,
          html,
          date: new Date(date),
          messageId: messageId(number),
          baseBoundary: `seed${number}`,
        },
        ...(answers === undefined ? {} : { inReplyTo: messageId(answers), references: messageId(answers) }),
        attachments: attachment === undefined ? [] : [attachment],
        disableFileAccess: true,
        disableUrlAccess: true,
        newline: 'win',
      })
      const name = `${Date.parse(date) / 1000}.seed${number}.halden`
      return { name, isRead, bytes: await composer.compile().build() }
    }),
  )
}
