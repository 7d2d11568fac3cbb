// The C++ and the C API of hobgoblin for modules of a game. Call them only while IHobgoblin::IsLoaded().
#pragma once

#include "CoreMinimal.h"
#include "Modules/ModuleInterface.h"
#include "Modules/ModuleManager.h"

THIRD_PARTY_INCLUDES_START
#include <hobgoblin/hobgoblin.hpp>
THIRD_PARTY_INCLUDES_END

class IHobgoblin : public IModuleInterface
{
public:
	/// Whether the library is loaded and fits the headers. On Windows, a call to a library that is not loaded ends the game.
	virtual bool IsLibraryLoaded() const = 0;

	static bool IsLoaded()
	{
		const IHobgoblin* Module = FModuleManager::GetModulePtr<IHobgoblin>(TEXT("Hobgoblin"));
		return Module != nullptr && Module->IsLibraryLoaded();
	}
};
