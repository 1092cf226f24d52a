/** Questions about the documents of the demo. */

export interface Suggestion {
  question: string;
  classification: string;
  /** The document that answers the question. */
  filename: string;
}

const SUGGESTIONS: Suggestion[] = [
  {
    question: "How is the standby pump started?",
    classification: "manual",
    filename: "P-101-operation.md",
  },
  {
    question: "What must be done before anyone enters T-101?",
    classification: "manual",
    filename: "T-101-inspection.md",
  },
  {
    question: "How thin may the bottom of T-101 become?",
    classification: "manual",
    filename: "T-101-inspection.md",
  },
  {
    question: "Which relief valve protects V-101?",
    classification: "datasheet",
    filename: "V-101-datasheet.md",
  },
];

/** The questions that the documents of a pipeline answer. */
export function suggestionsFor(filenames: string[]): Suggestion[] {
  return SUGGESTIONS.filter(({ filename }) => filenames.includes(filename));
}
