/** Check boxes of the classifications that a key or an account may use, and of what it may do with them. */
import type { Pipeline } from "../../features/documents/queries";
import { Checkbox } from "../../ui/fields";
import { type AccessRules, changedRules, VERBS } from "./accessRules";

interface AccessMatrixProps {
  pipelines: Pipeline[];
  rules: AccessRules;
  onChange: (rules: AccessRules) => void;
}

export function AccessMatrix({ pipelines, rules, onChange }: AccessMatrixProps) {
  if (pipelines.length === 0) return <p className="muted">There are no pipelines.</p>;
  return (
    <div className="table-frame">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">
              <span>Pipeline</span>
            </th>
            <th scope="col">
              <span>Classifications</span>
            </th>
            <th scope="col">
              <span>May</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {pipelines.map((pipeline) => (
            <tr key={pipeline.id}>
              <td>{pipeline.name}</td>
              <td className="access-choices">
                {pipeline.classifications.map((classification) => (
                  <Checkbox
                    key={classification}
                    label={classification}
                    isSelected={rules[pipeline.id]?.classifications.includes(classification) ?? false}
                    onChange={(isOn) => onChange(changedRules(rules, pipeline.id, { classification }, isOn))}
                  />
                ))}
              </td>
              <td className="access-choices">
                {VERBS.map((verb) => (
                  <Checkbox
                    key={verb}
                    label={verb}
                    isSelected={rules[pipeline.id]?.verbs.includes(verb) ?? false}
                    onChange={(isOn) => onChange(changedRules(rules, pipeline.id, { verb }, isOn))}
                  />
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
