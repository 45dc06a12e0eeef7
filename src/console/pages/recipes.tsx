/** The recipes that a new rule may begin with, as a short row of buttons; it folds away once one is used. */
import { useState } from "preact/hooks";
import { type RuleRecipe, ruleRecipes } from "../rule-recipes.js";
import { actionWords } from "../words.js";

/** A folding card with a button for each of `ruleRecipes`; the note of the one that was used stays below it. */
export function Recipes(properties: { readonly isOpenAtFirst: boolean; readonly onUse: (recipe: RuleRecipe) => void }) {
  const { isOpenAtFirst, onUse } = properties;
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const [used, setUsed] = useState<RuleRecipe | null>(null);
  return (
    <>
      <details class="card" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Start with a recipe</summary>
        <ul class="recipes plain">
          {ruleRecipes.map((recipe) => (
            <li key={recipe.name}>
              <button
                type="button"
                class="recipe"
                title={`${actionWords[recipe.action]}: ${recipe.expression}`}
                onClick={() => {
                  setOpen(false);
                  setUsed(recipe);
                  onUse(recipe);
                }}
              >
                {recipe.name}
              </button>
            </li>
          ))}
        </ul>
        <p class="dim">
          It fills in the rule below, which is not active yet, and tries it on stored sessions. Rules see requests
          without a session only while <a href="/docs/requests">request scoring</a> is on.
        </p>
      </details>
      {used !== null && (
        <p class="notice" role="status">
          {used.note}
        </p>
      )}
    </>
  );
}
