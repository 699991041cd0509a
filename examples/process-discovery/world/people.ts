/**
 * The people of a bicycle workshop. Each knows only a part of how a repair goes: some things they tell at once, some only when they
 * are asked for them. Tim remembers one thing wrongly until he looks it up. Ines and Marek contradict each other; Ruth knows who is right.
 */

/** What somebody knows, in sentences that `facts.ts` understands. */
export interface Worker {
  readonly id: string
  readonly name: string
  readonly role: string
  /** Told to everybody who asks what happens. */
  readonly tells: readonly string[]
  /** Told to those who ask for it. */
  readonly knows: readonly string[]
  /** Told at first, and taken back once it is in doubt. */
  readonly misremembers?: { readonly says: string; readonly instead: string }
}

export const people: readonly Worker[] = [
  {
    id: 'ines',
    name: 'Ines Falk',
    role: 'counter',
    tells: [
      'At the counter we do "Register the repair", "Ask the customer for approval", "Call the customer", "Take the payment" and "Hand over the bike".',
      'It begins with "Register the repair".',
      'After "Register the repair" comes "Inspect the bike".',
      'After "Write the estimate" comes "Ask the customer for approval" if it is above 200 euros.',
      'After "Ask the customer for approval" comes "Look for the parts" if the customer agrees.',
      'After "Call the customer" comes "Take the payment".',
      'After "Take the payment" comes "Hand over the bike".',
      'After "Hand over the bike" it is over.',
    ],
    knows: [
      'After "Write the estimate" comes "Look for the parts" if it is at most 200 euros.',
      'After "Ask the customer for approval" comes "Hand the bike back unrepaired" if the customer declines.',
      'At the counter we do "Hand the bike back unrepaired".',
      'After "Hand the bike back unrepaired" it is over.',
    ],
  },
  {
    id: 'tim',
    name: 'Tim Okafor',
    role: 'office',
    tells: ['In the office I do "Write the invoice".', 'After "Write the invoice" comes "Take the payment".'],
    knows: [],
    misremembers: {
      says: 'After "Repair the bike" comes "Write the invoice".',
      instead:
        'After "Ride a test lap" come "Write the invoice" and "Call the customer" at the same time if it is passed.',
    },
  },
  {
    id: 'ruth',
    name: 'Ruth Adler',
    role: 'owner',
    tells: [],
    knows: [
      'After "Write the estimate" comes "Ask the customer for approval" if it is above 200 euros.',
      'After "Write the estimate" comes "Look for the parts" if it is at most 200 euros.',
    ],
  },
  {
    id: 'marek',
    name: 'Marek Sova',
    role: 'workshop',
    tells: [
      'In the workshop I do "Inspect the bike", "Write the estimate", "Repair the bike" and "Ride a test lap".',
      'After "Inspect the bike" comes "Write the estimate".',
      'After "Write the estimate" comes "Ask the customer for approval" if it is above 300 euros.',
      'After "Write the estimate" comes "Look for the parts" if it is at most 300 euros.',
      'After "Repair the bike" comes "Ride a test lap".',
      'After "Ride a test lap" come "Write the invoice" and "Call the customer" at the same time if it is passed.',
    ],
    knows: ['After "Ride a test lap" comes "Repair the bike" if it is failed.'],
  },
  {
    id: 'olga',
    name: 'Olga Brandt',
    role: 'parts store',
    tells: [
      'In the parts store I do "Look for the parts", "Order the parts" and "Receive the parts".',
      'After "Look for the parts" comes "Repair the bike" if all parts are there.',
      'After "Look for the parts" comes "Order the parts" if parts are missing.',
      'After "Order the parts" comes "Receive the parts".',
    ],
    knows: ['After "Receive the parts" comes "Repair the bike".'],
  },
]
